import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { ConfinementFailed } from '../../../src/providers/confine/confinement.js';
import { unconfined } from '../../../src/providers/confine/unconfined.js';
import { type Ground, ground, processesWith, until, zombies } from './ground.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('unconfined', () => {
  const confinement = unconfined();
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  it('returns what the command said and how it ended', async () => {
    const ran = await confinement.run(on.run(['sh', '-c', 'cat; pwd >&2; exit 3'], { stdin: 'x' }));
    expect(ran).to.equal({
      exitCode: 3,
      signal: null,
      stdout: 'x',
      stderr: `${on.folder}\n`,
      truncated: false,
      timedOut: false,
      durationMs: ran.durationMs,
    });
  });

  it('gives the command nothing of the environment of the daemon', async () => {
    const { stdout } = await confinement.run(on.run(['env'], { env: { EXTRA: '1' } }));
    expect(stdout.trim().split('\n').sort()).to.equal([
      'EXTRA=1',
      `HOME=${on.folder}`,
      'LANG=C.UTF-8',
      'PATH=/usr/local/bin:/usr/bin:/bin',
    ]);
  });

  it('survives a command that ignores its input', async () => {
    const ran = await confinement.run(on.run(['true'], { stdin: 'x'.repeat(1_000_000) }));
    expect(ran.exitCode).to.equal(0);
  });

  it('kills the group at the time-out and leaves no zombie', async () => {
    const mark = `8${process.pid}1.5`;
    const script = `sleep ${mark} & sleep ${mark} & wait`;
    const ran = await confinement.run(on.run(['sh', '-c', script], { timeoutMs: 300 }));
    expect([ran.exitCode, ran.signal, ran.timedOut]).to.equal([null, 'SIGKILL', true]);
    await until(async () => (await processesWith(mark)).length === 0);
    expect(await zombies()).to.equal(0);
  });

  it('returns although a process that left the group holds the pipes', async () => {
    const script = `setsid sh -c 'touch gone; exec sleep 20' & until test -e gone; do :; done; echo $!`;
    const ran = await confinement.run(on.run(['sh', '-c', script]));
    process.kill(Number(ran.stdout), 'SIGKILL');
    expect([ran.exitCode, ran.timedOut]).to.equal([0, false]);
  });

  it('cuts the output between characters at the limit', async () => {
    const ran = await confinement.run(on.run(['printf', '€€€'], { maxOutputBytes: 5 }));
    expect([ran.stdout, ran.truncated]).to.equal(['€', true]);
  });

  it('counts both streams against one limit, which they may reach', async () => {
    const script = 'printf 12345; printf 67890 >&2';
    const whole = await confinement.run(on.run(['sh', '-c', script], { maxOutputBytes: 10 }));
    expect([whole.stdout, whole.stderr, whole.truncated]).to.equal(['12345', '67890', false]);
    const cut = await confinement.run(on.run(['sh', '-c', script], { maxOutputBytes: 9 }));
    expect([cut.stdout.length + cut.stderr.length, cut.truncated]).to.equal([9, true]);
  });

  it('replaces bytes that are not UTF-8', async () => {
    const ran = await confinement.run(on.run(['printf', '\\377a\\342\\202']));
    expect(ran.stdout).to.equal('\uFFFDa\uFFFD');
  });

  it('starts nothing under a signal that is aborted', async () => {
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(confinement.run(on.run(['touch', 'made'], { signal }))).to.reject('too late');
    expect((await confinement.run(on.run(['ls']))).stdout).to.equal('');
  });

  it('refuses a program that is not there', async () => {
    await expect(confinement.run(on.run(['no-such-program']))).to.reject(
      ConfinementFailed,
      'no-such-program cannot be started: ENOENT',
    );
  });
});
