import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { isAlive, type Machine, newMachine, newStranger, printed, recordedPid } from './machine.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const READY = { status: 'ready', failing: [] };
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const ask = async (url: string): Promise<unknown> => (await fetch(`${url}/health/ready`)).json();

describe('the daemon in the background', () => {
  let machine: Machine;
  beforeEach(async () => {
    machine = await newMachine();
  });
  afterEach(() => machine.clear());

  it('starts, is ready, and is kept on record for its owner alone', async () => {
    const { code, stdout, stderr } = await machine.run(['up']);
    expect(code).to.equal(0);
    const { home, url } = machine;
    const record = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8'));
    expect(stdout).to.equal(`${url}\t${record.pid}\t${record.startedAt}\n`);
    expect(stderr).to.startWith('  created   keys/master.key (0600).');
    expect(await ask(url)).to.equal(READY);
    const files = ['daemon.json', 'logs', 'logs/daemon.log'].map((name) => join(home, name));
    expect([home, ...files].map(modeOf)).to.equal(['700', '600', '700', '600']);
  });

  it('runs with little spare memory (needs /proc)', { skip: !existsSync('/proc') }, async () => {
    await machine.run(['up']);
    const pid = recordedPid(machine.home);
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const settings = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(words).to.include('--max-semi-space-size=8');
    expect(settings).to.include('MALLOC_MMAP_THRESHOLD_=131072');
  });

  it('takes its address from the flags, and tells how to find it', async () => {
    const { stdout, stderr } = await machine.run(['up', '--port', '0', '--home', 'elsewhere']);
    const [url = ''] = stdout.split('\t');
    expect(await ask(url)).to.equal(READY);
    expect(stderr).to.include(`Other commands need: export ADJUTANT_URL=${url}`);
    expect((await machine.run(['down', '--home', 'elsewhere'])).code).to.equal(0);
  });

  it('is started once', async () => {
    const first = await machine.run(['up']);
    const second = await machine.run(['up']);
    expect(second).to.equal({ ...first, stderr: '' });
    const moved = await machine.run(['up', '--port', '3999']);
    expect(moved).to.equal({
      ...first,
      stderr: 'To change the address: adjutant restart --port …\n',
    });
  });

  it('stops when it is told to, and only once', async () => {
    await machine.run(['up']);
    const pid = recordedPid(machine.home);
    const { code, stdout } = await machine.run(['down']);
    expect(code).to.equal(0);
    expect(stdout).to.startWith(`${machine.url}\t${pid}\t`);
    expect((await machine.run(['status'])).stdout).to.equal(`${machine.url}\tnot_running\t\n`);
    const again = { code: 0, stdout: '', stderr: 'Not running.\n' };
    expect(await machine.run(['down'])).to.equal(again);
  });

  it('is started again beside the command that stops it', async () => {
    await machine.run(['up']);
    const first = recordedPid(machine.home);
    process.kill(first, 'SIGTERM');
    await until(
      () => ask(machine.url).catch(() => null),
      (answer) => answer === null || !isDeepStrictEqual(answer, READY),
    );
    const [up, down] = await Promise.all([machine.run(['up']), machine.run(['down'])]);
    expect([up.code, down.code]).to.equal([0, 0]);
    expect(recordedPid(machine.home)).to.not.equal(first);
    expect(await ask(machine.url)).to.equal(READY);
  });

  it('is started by restart too, and comes back at the same address', async () => {
    const settings = { ADJUTANT_PORT: '1' };
    await machine.run(['restart', '--port', new URL(machine.url).port], settings);
    const first = recordedPid(machine.home);
    const { code, stderr } = await machine.run(['restart'], settings);
    expect(code).to.equal(0);
    expect(stderr).to.match(/^Stopped in .+\.$/m);
    expect(recordedPid(machine.home)).to.not.equal(first);
    expect(await ask(machine.url)).to.equal(READY);
  });

  it('starts again after kill -9', async () => {
    await machine.run(['up']);
    process.kill(recordedPid(machine.home), 'SIGKILL');
    expect((await machine.run(['up'])).code).to.equal(0);
    expect(await ask(machine.url)).to.equal(READY);
  });

  it('is not started on a port that is taken', async () => {
    const { server, port } = await newStranger();
    const refused = await machine.run(['up', '--port', String(port)]);
    server.close();
    expect(refused.code).to.equal(1);
    expect(refused.stdout).to.equal('');
    const [first = '', second] = refused.stderr.split('\n');
    expect(first).to.startWith(`Not started: port ${port} is already in use`);
    expect(second).to.equal(
      `Free the port, or: adjutant up --home ${machine.home} --port ${port + 1}`,
    );
    if (process.platform === 'linux') expect(first).to.include(`by pid ${process.pid} (`);
  });

  it('is not started on a home that another daemon holds, whose record stays', async () => {
    await machine.run(['up']);
    const record = readFileSync(join(machine.home, 'daemon.json'), 'utf8');
    const { code, stderr } = await machine.run(['serve', '--port', '0']);
    expect({ code, stderr }).to.equal({
      code: 1,
      stderr: `Not started: another Adjutant already uses the home folder ${machine.home}.\nCheck it: adjutant status\n`,
    });
    expect(readFileSync(join(machine.home, 'daemon.json'), 'utf8')).to.equal(record);
  });

  it('has one winner when it is started twice at once', async () => {
    const both = [machine.run(['up', '--port', '0']), machine.run(['up', '--port', '0'])];
    const ended = await Promise.all(both);
    const said = ended.sort((a, b) => Number(a.code) - Number(b.code));
    expect(said.map(({ code }) => code)).to.equal([0, 1]);
    expect(said[0]?.stdout.split('\t')[1]).to.equal(String(recordedPid(machine.home)));
    expect(said[1]?.stderr).to.match(
      /^Not started: another Adjutant already uses the home folder /,
    );
  });

  it('is not started on a home that cannot be made', async () => {
    writeFileSync(join(machine.folder, 'file'), '');
    const home = join(machine.folder, 'file/home');
    for (const [command, fault] of [
      ['up', /^Not started: cannot write the log in .+: ENOTDIR: .+\.\n$/],
      ['serve', /^Not started: cannot create the home .+: ENOTDIR: .+\.\n$/],
    ] as const) {
      const { code, stdout, stderr } = await machine.run([command, '--home', home]);
      expect({ code, stdout }).to.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(fault);
    }
  });

  it('names the setting that it cannot take', async () => {
    const { code, stderr } = await machine.run(['up'], { ADJUTANT_HOOK_CONCURRENCY: 'many' });
    expect({ code, stderr }).to.equal({
      code: 1,
      stderr:
        'Not started: ADJUTANT_HOOK_CONCURRENCY must be a number from 1 to 1000 (got "many").\n',
    });
  });

  it('takes only a port that there is', async () => {
    const { code, stderr } = await machine.run(['up', '--port', '65536']);
    const line = '--port must be a whole number from 0 to 65535 (got "65536")\n';
    expect({ code, stderr }).to.equal({ code: 2, stderr: line });
  });
});

describe('a daemon in the foreground', () => {
  let machine: Machine;
  let serving: ChildProcess;
  beforeEach(async () => {
    machine = await newMachine();
    serving = machine.start(['serve']);
    await printed(serving, 'Ready in');
  });
  afterEach(() => machine.clear());

  it('answers, and ends cleanly on SIGTERM', async () => {
    expect(await ask(machine.url)).to.equal(READY);
    serving.kill('SIGTERM');
    expect(await once(serving, 'exit')).to.equal([0, null]);
  });

  it('is not stopped from elsewhere', async () => {
    const { code, stdout, stderr } = await machine.run(['down']);
    expect({ code, stdout }).to.equal({ code: 1, stdout: '' });
    expect(stderr).to.startWith(`The daemon at ${machine.url} was not started by \`adjutant up\``);
    if (process.platform === 'linux') expect(stderr).to.include(`or: kill ${serving.pid}\n`);
    expect(serving.exitCode).to.equal(null);
  });
});

describe('a record that is out of date', () => {
  let machine: Machine;
  let bystander: ChildProcess;
  beforeEach(async () => {
    machine = await newMachine();
    bystander = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  });
  afterEach(async () => {
    bystander.kill('SIGKILL');
    await machine.clear();
  });

  it('has no power over a process that took the same id', async () => {
    const { pid = 0 } = bystander;
    const record = { pid, started: 'earlier', url: machine.url, startedAt: 'then', flags: [] };
    mkdirSync(machine.home);
    writeFileSync(join(machine.home, 'daemon.json'), JSON.stringify(record));
    const nothing = { code: 0, stdout: '', stderr: 'Not running.\n' };
    expect(await machine.run(['down', '--force'])).to.equal(nothing);
    expect(isAlive(pid)).to.equal(true);
  });
});
