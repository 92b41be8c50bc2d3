import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { unconfined } from '../../src/providers/confine/unconfined.js';
import { shellTools } from '../../src/tools/shell.js';
import { type Ground, ground, until } from '../providers/confine/ground.js';
import { contextOf, failureOf } from './context.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('shell.run', () => {
  const [tool] = shellTools(unconfined()).tools;
  const [off] = shellTools(null).tools;
  let on: Ground;
  beforeEach(async () => {
    on = await ground();
  });
  afterEach(() => on.clear());

  const run = async (args: Record<string, unknown>, more = {}) =>
    tool?.run(args, contextOf({ openFolder: async () => on.folder, ...more }));

  it('runs the program in the folder and returns how it went', async () => {
    const ran = await run({ argv: ['pwd'] });
    expect(ran).to.equal({
      exitCode: 0,
      signal: null,
      stdout: `${on.folder}\n`,
      stderr: '',
      truncated: false,
      timedOut: false,
      durationMs: Object(ran).durationMs,
    });
  });

  it('gives the program what env holds, and nothing of the daemon’s', async () => {
    process.env.ADJUTANT_CANARY = 'of the daemon';
    const env = { TOKEN: 'a b=c\nd', EMPTY: '' };
    const ran = Object(await run({ argv: ['env', '-0'], env }));
    delete process.env.ADJUTANT_CANARY;
    expect(ran.stdout.split('\0').filter(Boolean).sort()).to.equal([
      'EMPTY=',
      `HOME=${on.folder}`,
      'LANG=C.UTF-8',
      'PATH=/usr/local/bin:/usr/bin:/bin',
      'TOKEN=a b=c\nd',
    ]);
  });

  it('ends the program at the time-out that was asked for', async () => {
    const ran = Object(await run({ argv: ['sleep', '60'], timeoutMs: 100 }));
    expect([ran.exitCode, ran.timedOut]).to.equal([null, true]);
  });

  it('fails as begun when it is stopped', async () => {
    const stop = new AbortController();
    const argv = ['sh', '-c', 'touch begun; sleep 60'];
    const running = failureOf(run({ argv }, { signal: stop.signal }));
    await until(async () => existsSync(join(on.folder, 'begun')));
    stop.abort(new Error('by its owner'));
    expect(await running).to.equal({
      name: 'ToolFailed',
      message: 'The command was stopped',
      effectBegan: true,
    });
  });

  it('fails as not begun where the command cannot start', async () => {
    expect(await failureOf(run({ argv: ['ls'] }, { openFolder: async () => '/no/such' }))).to.equal(
      {
        name: 'ToolFailed',
        message:
          'The folder /no/such cannot be used: ENOENT. Check that the folder exists and can be read',
        effectBegan: false,
      },
    );
  });

  it('refuses bad arguments, naming each field', async () => {
    const cases: [Record<string, unknown>, string][] = [
      [{}, 'argv is required'],
      [{ argv: 'ls -l' }, 'argv must be an array'],
      [{ argv: [] }, 'argv must contain at least 1 items'],
      [{ argv: ['ls', 5] }, 'argv.1 must be a string'],
      [{ argv: Array(65).fill('x') }, 'argv must contain less than or equal to 64 items'],
      [{ argv: ['ls', 'a\0'] }, 'argv must not contain a NUL character'],
      [{ argv: ['', 'a'] }, 'argv must begin with the name of a program'],
      [{ argv: ['x'.repeat(30_000), 'x'.repeat(3_000)] }, 'argv must not exceed 32 KiB in total'],
      [{ argv: ['ls'], env: { 'A-B': 'x' } }, 'env.A-B is not allowed'],
      [{ argv: ['ls'], env: { A: 'a\0' } }, 'env.A must not contain a NUL character'],
      [{ argv: ['ls'], timeoutMs: 120_001 }, 'timeoutMs must be less than or equal to 120000'],
      [{ argv: ['ls'], timeoutMs: '500' }, 'timeoutMs must be a number'],
      [{ argv: ['ls'], folder: '/' }, 'folder is not allowed'],
    ];
    for (const [args, sentence] of cases) {
      const { name, message } = await failureOf(run(args));
      expect([name, message]).to.equal(['ToolRefused', `shell.run: ${sentence}`]);
    }
  });

  it('is listed and refuses to run where nothing confines', async () => {
    const sentence =
      'Commands are unavailable: no confinement works on this machine. Install bubblewrap (on a machine that lets it create namespaces), or turn on the setting allowUnconfined (ADJUTANT_ALLOW_UNCONFINED)';
    expect([tool?.unavailable, off?.unavailable]).to.equal([null, sentence]);
    const refused = await failureOf(off?.run({ argv: ['ls'] }, contextOf()) ?? Promise.resolve());
    expect(refused).to.equal({ name: 'ToolRefused', message: sentence, details: undefined });
  });

  it('has effects, runs once, and sends out only where nothing confines it', () => {
    const traits = [tool, off].map((each) => [each?.sideEffects, each?.once, each?.sendsOut]);
    expect(traits).to.equal([
      [true, true, true],
      [true, true, false],
    ]);
    expect(tool?.isSafe({})).to.be.false();
  });
});
