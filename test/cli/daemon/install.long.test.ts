import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { launchdPlist, systemdUnit } from '../../../cli/daemon/install.js';
import { isAlive, type Machine, newMachine, newStranger, recordedPid } from './machine.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** Does with the unit what systemd does, as far as the commands of the CLI go. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> "$HOME/asked"
unit="$XDG_CONFIG_HOME/systemd/user/adjutant.service"
end() {
  test -e "$HOME/pid" || return 0
  pid="$(cat "$HOME/pid")"
  rm "$HOME/pid"
  kill "$pid" 2>/dev/null
  while grep -qs "^State:.[^XZ]" "/proc/$pid/status"; do sleep 0.1; done
}
case "$*" in
  *stop*) end ;;
  *start*)
    end
    log="$(sed -n 's/^StandardError=append://p' "$unit")"
    eval "exec $(sed -n 's/^ExecStart=//p' "$unit")" >> "$log" 2>&1 < /dev/null &
    echo $! > "$HOME/pid" ;;
  *disable*) end ;;
esac
exit 0
`;

/** Where no bus of the user is there: after `su`, in a container, over ssh without a login session. */
const NO_BUS = `#!/bin/sh
echo "Failed to connect to bus: No medium found" >&2
exit 1
`;
const SAID = 'Failed to connect to bus: No medium found';

const hasVerify = (): boolean => existsSync('/usr/bin/systemd-analyze');

describe('the daemon as a service', { skip: process.platform !== 'linux' }, () => {
  let machine: Machine;
  let path: string;
  beforeEach(async () => {
    machine = await newMachine();
    const folder = join(machine.folder, 'bin');
    mkdirSync(folder);
    writeFileSync(join(folder, 'systemctl'), SYSTEMCTL);
    chmodSync(join(folder, 'systemctl'), 0o755);
    path = `${folder}:${process.env.PATH}`;
  });
  afterEach(async () => {
    const pid = join(machine.folder, 'pid');
    if (existsSync(pid)) {
      try {
        process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await machine.clear();
  });

  it('is installed, ready, and taken away again', async () => {
    const installed = await machine.run(['up', '--install'], { PATH: path });
    expect(installed.code, installed.stderr).to.equal(0);
    const ready = await (await fetch(`${machine.url}/health/ready`)).json();
    expect(ready).to.equal({ status: 'ready', failing: [] });
    const removed = await machine.run(['down', '--uninstall'], { PATH: path });
    expect(removed.code, removed.stderr).to.equal(0);
    expect(existsSync(join(machine.folder, 'config/systemd/user/adjutant.service'))).to.be.false();
    expect(readFileSync(join(machine.folder, 'asked'), 'utf8').trim().split('\n')).to.equal([
      '--user show-environment',
      '--user daemon-reload',
      '--user enable adjutant.service',
      '--user stop adjutant.service',
      '--user start --no-block adjutant.service',
      '--user disable --now adjutant.service',
      '--user daemon-reload',
    ]);
    const again = await machine.run(['down', '--uninstall'], { PATH: path });
    expect(again).to.equal({ code: 0, stdout: '', stderr: 'No service is installed.\n' });
  });

  it('is what up, down and restart mean once it is there', async () => {
    const run = (...words: string[]) => machine.run(words, { PATH: path });
    await run('up', '--install');
    const isReady = async (): Promise<boolean> =>
      (await fetch(`${machine.url}/health/ready`).catch(() => null))?.ok ?? false;
    const pid = (): string => readFileSync(join(machine.folder, 'pid'), 'utf8');
    const first = pid();
    expect((await run('up')).stdout).to.equal(`${machine.url}\n`);
    expect(pid()).to.equal(first);
    const restarted = await run('restart');
    expect(restarted.stdout, restarted.stderr).to.equal(`${machine.url}\n`);
    expect([pid() === first, await isReady()]).to.equal([false, true]);
    const moved = await run('restart', '--port', '1');
    expect([moved.code, moved.stderr.includes('adjutant up --install --port')]).to.equal([1, true]);
    const stopped = await run('down');
    expect(stopped.stderr).to.include('starts again at your next login');
    expect([stopped.code, await isReady()]).to.equal([0, false]);
    expect((await run('down')).stderr).to.equal('Not running.\n');
    const started = await run('up');
    expect([started.code, await isReady()]).to.equal([0, true]);
    const elsewhere = await run('--home', join(machine.folder, 'other'), 'down');
    expect([elsewhere.code, await isReady()]).to.equal([1, true]);
  });

  it('says who is in the way, in the words of its log', async () => {
    const { server, port } = await newStranger();
    const words = ['up', '--install', '--port', String(port)];
    const { code, stderr } = await machine.run(words, { PATH: path });
    server.close();
    expect(code).to.equal(1);
    expect(stderr).to.contain(`The service is not ready at http://127.0.0.1:${port}`);
    expect(stderr).to.contain(`Not started: port ${port} is already in use by pid ${process.pid}`);
    expect([stderr.includes('Nothing was changed.'), existsSync(unit())]).to.equal([true, false]);
  });

  const unit = (): string => join(machine.folder, 'config/systemd/user/adjutant.service');
  const run = (...words: string[]) => machine.run(words, { PATH: path });
  const setSystemctl = (script: string): void =>
    writeFileSync(join(machine.folder, 'bin/systemctl'), script);
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${machine.url}/health/ready`).catch(() => null))?.ok ?? false;

  it('is not begun where no systemd can be asked, and the daemon runs on', async () => {
    setSystemctl(NO_BUS);
    await run('up');
    const pid = recordedPid(machine.home);
    expect(await run('up', '--install')).to.equal({
      code: 1,
      stdout: '',
      stderr:
        `Cannot install a service: "systemctl --user show-environment" failed: ${SAID}.\n` +
        'Nothing was changed. Without a service: adjutant up\n',
    });
    expect([recordedPid(machine.home), isAlive(pid), await isReady()]).to.equal([pid, true, true]);
    expect(existsSync(unit())).to.be.false();
    expect((await run('up')).stdout).to.startWith(machine.url);
    expect((await run('down')).code).to.equal(0);
  });

  it('is undone where it fails half way: the daemon that ran runs again', async () => {
    const failing = SYSTEMCTL.replace(
      '*disable*)',
      '*" enable "*) echo "no" >&2; exit 1 ;;\n  *disable*)',
    );
    setSystemctl(failing);
    await run('up');
    const { code, stderr } = await run('up', '--install');
    expect([code, stderr.split('\n')[0]]).to.equal([
      1,
      '"systemctl --user enable adjutant.service" failed: no.',
    ]);
    expect(stderr).to.contain(
      'The previous daemon is running again. Without a service: adjutant up\n',
    );
    expect([await isReady(), existsSync(unit())]).to.equal([true, false]);
    expect(isAlive(recordedPid(machine.home))).to.be.true();
    expect((await run('down')).code).to.equal(0);
    expect(await isReady()).to.be.false();
  });

  it('gives way to the earlier one where the new one fails', async () => {
    await run('up', '--install');
    const { server, port } = await newStranger();
    const { code } = await run('up', '--install', '--port', String(port));
    server.close();
    expect([code, (await run('up')).stdout]).to.equal([1, `${machine.url}\n`]);
    expect(readFileSync(unit(), 'utf8')).to.include(`"--port" "${new URL(machine.url).port}"`);
  });

  it('stands in nobody’s way once it is dead: up, down and restart work beside it', async () => {
    await run('up', '--install');
    await run('down');
    setSystemctl(NO_BUS);
    const started = await run('up');
    expect([started.code, await isReady()]).to.equal([0, true]);
    expect(started.stderr).to.contain(
      `"systemctl --user start --no-block adjutant.service" failed: ${SAID}. Started without the service.\n`,
    );
    expect([(await run('restart')).code, await isReady()]).to.equal([0, true]);
    expect([(await run('down')).code, await isReady()]).to.equal([0, false]);
    expect((await run('down')).stderr).to.equal('Not running.\n');
    const removed = await run('down', '--uninstall');
    expect([removed.code, existsSync(unit())]).to.equal([0, false]);
    expect(removed.stderr).to.contain('Only the service files were removed.');
  });
});

describe('the unit', () => {
  it('is one that systemd understands, whatever the home is called', { skip: !hasVerify() }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'adjutant-unit-'));
    const file = join(folder, 'adjutant.service');
    writeFileSync(file, systemdUnit({ home: '/srv/a b %h $x "q"', flags: ['--port', '3006'] }));
    try {
      execFileSync('systemd-analyze', ['verify', '--user', '--man=no', file], {
        env: { ...process.env, XDG_RUNTIME_DIR: folder },
        stdio: 'pipe',
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is a property list for launchd', () => {
    const plist = launchdPlist({ home: '/Users/ada/a & b', flags: ['--port', '3006'] });
    expect(plist).to.contain('<string>/Users/ada/a &amp; b</string>\n    <string>--port</string>');
    expect(plist).to.contain('<string>/Users/ada/a &amp; b/logs/daemon.log</string>');
  });
});
