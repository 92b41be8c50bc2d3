import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { bubblewrap } from '../../../src/providers/confine/bubblewrap.js';
import { ConfinementFailed } from '../../../src/providers/confine/confinement.js';
import { verifyConfinement } from '../../../src/providers/confine/find.js';
import { listenTcp } from '../../kernel/listen.js';
import { type Ground, ground, processesWith, until, zombies } from './ground.js';

// Awaited first: a script that waits after Lab.script() is run by lab before it has tests.
const hardened = { skip: !(await verifyConfinement(bubblewrap(true))) };
const plain = { skip: !(await verifyConfinement(bubblewrap(false))) };

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('bubblewrap', () => {
  const confinement = bubblewrap(true);
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  const sh = async (script: string, more?: Parameters<Ground['run']>[1]) =>
    confinement.run(on.run(['sh', '-c', script], more));

  it('returns what the command said and how it ended (needs bubblewrap)', hardened, async () => {
    const ran = await sh('cat; echo careful >&2; exit 3', { stdin: 'Grüße' });
    expect(ran).to.equal({
      exitCode: 3,
      signal: null,
      stdout: 'Grüße',
      stderr: 'careful\n',
      truncated: false,
      timedOut: false,
      durationMs: ran.durationMs,
    });
  });

  it(
    'gives the command a fixed environment and the added names alone (needs bubblewrap)',
    hardened,
    async () => {
      const ran = await confinement.run(on.run(['env'], { env: { EXTRA: 'a b\nc' } }));
      expect(ran.stdout.trim().split('\n').sort()).to.equal([
        'EXTRA=a b',
        `HOME=${on.folder}`,
        'LANG=C.UTF-8',
        'PATH=/usr/local/bin:/usr/bin:/bin',
        `PWD=${on.folder}`,
        'c',
      ]);
    },
  );

  it('hides the home, the data folder and its keys (needs bubblewrap)', hardened, async () => {
    const home = homedir();
    const data = dirname(dirname(on.folder));
    const hidden = [home, on.keyFile, dirname(on.keyFile), '/etc/passwd', '/root', '/var', '/sys'];
    const ran = await sh(`for path in ${hidden.join(' ')}; do test -e $path && echo $path; done
      ls ${data} ${dirname(on.folder)}; cat ${on.keyFile}`);
    expect(ran.stdout).to.equal(`${data}:\nagents\n\n${dirname(on.folder)}:\nagent_1\n`);
    expect(ran.stderr).to.contain('No such file');
  });

  it('follows no symbolic link out of the folder (needs bubblewrap)', hardened, async () => {
    const ran = await sh(`ln -s ${on.keyFile} link; cat link; cat ../../keys/master.key`);
    expect([ran.exitCode, ran.stdout]).to.equal([1, '']);
  });

  it(
    'hides the processes of the machine and their environment (needs bubblewrap)',
    hardened,
    async () => {
      const ran = await sh(`cat /proc/${process.pid}/environ; echo /proc/[0-9]*
      for process in /proc/[0-9]*; do tr '\\0' '\\n' < $process/environ; done | sort -u`);
      const [pids, ...environments] = ran.stdout.trim().split('\n');
      expect(pids).to.equal('/proc/1 /proc/2');
      expect(environments).to.equal([
        `HOME=${on.folder}`,
        'LANG=C.UTF-8',
        'PATH=/usr/local/bin:/usr/bin:/bin',
        `PWD=${on.folder}`,
      ]);
    },
  );

  it(
    'reaches no listener on the machine unless given the network (needs bubblewrap)',
    hardened,
    async () => {
      const visits: string[] = [];
      const server = await listenTcp((from) => from.once('data', (data) => visits.push(`${data}`)));
      const call = (name: string) => [
        'bash',
        '-c',
        `echo ${name} > /dev/tcp/127.0.0.1/${server.port}`,
      ];
      const shut = await confinement.run(on.run(call('shut')));
      const open = await confinement.run(on.run(call('open'), { network: true }));
      await until(async () => visits.length > 0);
      await server.close();
      expect([shut.exitCode, open.exitCode, visits]).to.equal([1, 0, ['open\n']]);
    },
  );

  it(
    'lets the command write to its folder and to scratch space alone (needs bubblewrap)',
    hardened,
    async () => {
      // Appending nothing opens the file for writing and, were that allowed, would change nothing.
      const paths = ['/x', '/etc/x', '/usr/x', '/bin/x', '/dev/x', '/proc/self/comm'];
      const settings = ['/proc/sys/kernel/core_pattern', '/proc/sys/vm/swappiness'];
      const scratch = ['/tmp/x', '/dev/shm/x', '/dev/null', `${on.folder}/x`];
      const ran = await sh(
        `for path in ${[...paths, ...settings, ...scratch].join(' ')}; do
        (: >> $path) 2>/dev/null && echo $path; done`,
      );
      expect(ran.stdout.trim().split('\n')).to.equal(scratch);
    },
  );

  it(
    'takes every right from the command, being root included (needs bubblewrap)',
    hardened,
    async () => {
      const ran = await sh(`grep -E '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status
      unshare --user true || mount -t tmpfs none /tmp || echo refused`);
      expect(ran.stdout.split(/\s+/)).to.equal([
        ...['CapEff:', '0000000000000000', 'CapBnd:', '0000000000000000', 'NoNewPrivs:', '1'],
        ...['refused', ''],
      ]);
    },
  );

  it('limits processes, memory, files and open files (needs bubblewrap)', hardened, async () => {
    const limits = 'ulimit -u; ulimit -d; ulimit -f; ulimit -n; ulimit -c';
    const ran = await confinement.run(on.run(['bash', '-c', limits]));
    expect(ran.stdout).to.equal('512\n3145728\n1048576\n1024\n0\n');
  });

  it('kills the whole tree at the time-out (needs bubblewrap)', hardened, async () => {
    const mark = `9${process.pid}1.5`;
    const running = sh(
      `for n in 1 2 3; do setsid sh -c 'setsid sleep ${mark} & wait' & done; wait`,
      {
        timeoutMs: 3_000,
      },
    );
    await until(async () => (await processesWith(`sleep\0${mark}`)).length === 3);
    const ran = await running;
    await until(async () => (await processesWith(mark)).length === 0);
    expect([ran.exitCode, ran.signal, ran.timedOut]).to.equal([null, 'SIGKILL', true]);
    expect(await zombies()).to.equal(0);
  });

  it('kills what the command left behind when it ended (needs bubblewrap)', hardened, async () => {
    const mark = `9${process.pid}2.5`;
    const ran = await sh(`setsid sleep ${mark} > /dev/null 2>&1 & echo left`);
    await until(async () => (await processesWith(mark)).length === 0);
    expect([ran.exitCode, ran.stdout]).to.equal([0, 'left\n']);
  });

  it('kills a command that says more than allowed (needs bubblewrap)', hardened, async () => {
    const ran = await confinement.run(on.run(['yes'], { maxOutputBytes: 10_000 }));
    const { stdout, ...rest } = ran;
    expect(stdout).to.equal('y\n'.repeat(5_000));
    expect(rest).to.equal({
      exitCode: null,
      signal: 'SIGKILL',
      stderr: '',
      truncated: true,
      timedOut: false,
      durationMs: ran.durationMs,
    });
  });

  it(
    'kills the command on abort and rejects with the reason (needs bubblewrap)',
    hardened,
    async () => {
      const mark = `9${process.pid}3.5`;
      const stop = new AbortController();
      const running = sh(`sleep ${mark}`, { signal: stop.signal });
      await until(async () => (await processesWith(`sleep\0${mark}`)).length === 1);
      stop.abort(new Error('stopped by its owner'));
      await expect(running).to.reject('stopped by its owner');
      await until(async () => (await processesWith(mark)).length === 0);
    },
  );

  it('dies with the daemon, kill -9 included (needs bubblewrap)', hardened, async () => {
    const mark = `9${process.pid}4.5`;
    const module = new URL('../../../src/providers/confine/bubblewrap.js', import.meta.url).href;
    const daemon = spawn(process.execPath, [
      ...['--input-type=module', '--eval'],
      `const { bubblewrap } = await import(${JSON.stringify(module)});
       const signal = new AbortController().signal;
       const run = ${JSON.stringify(on.run(['sh', '-c', `setsid sleep ${mark}; true`]))};
       await bubblewrap(true).run({ ...run, signal });`,
    ]);
    await until(async () => (await processesWith(`sleep\0${mark}`)).length === 1);
    daemon.kill('SIGKILL');
    await until(async () => (await processesWith(`sleep ${mark}`)).length === 0);
    await until(async () => (await processesWith(`sleep\0${mark}`)).length === 0);
  });

  it('returns 127 for a program that is not there (needs bubblewrap)', hardened, async () => {
    const ran = await confinement.run(on.run(['no-such-program']));
    expect([ran.exitCode, ran.stdout]).to.equal([127, '']);
    expect(ran.stderr).to.contain('no-such-program: No such file or directory');
  });

  it('hands the arguments over as they are, to no shell (needs bubblewrap)', hardened, async () => {
    const argv = ['printf', '%s|', '--', '$HOME', '`id`', '; ls', '', 'a\nb'];
    expect((await confinement.run(on.run(argv))).stdout).to.equal('--|$HOME|`id`|; ls||a\nb|');
    const ran = await confinement.run(on.run(['--bind', '/', '/']));
    expect(ran.exitCode).to.equal(127);
  });

  it('refuses a folder that lies where commands can read', async () => {
    const run = on.run(['true'], { folder: '/usr/share' });
    await expect(confinement.run(run)).to.reject(
      ConfinementFailed,
      'Every command can read the folder /usr/share. Move the data folder elsewhere',
    );
  });

  it('confines without limits where bubblewrap is older (needs bubblewrap)', plain, async () => {
    const older = bubblewrap(false);
    const ran = await older.run(
      on.run(['sh', '-c', `cat ${on.keyFile}; echo done > own; cat own`]),
    );
    expect([ran.exitCode, ran.stdout]).to.equal([0, 'done\n']);
    await expect(older.run(on.run(['no-such-program']))).to.reject(
      ConfinementFailed,
      'bubblewrap could not start the command: bwrap: execvp no-such-program: No such file or directory',
    );
  });
});
