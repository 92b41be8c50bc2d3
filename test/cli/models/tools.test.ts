import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Bench, openBench } from '../../harness/clitools/fake.js';
import { openForSuite } from '../../harness/suite.js';
import { openWorld } from '../world.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('models cli', () => {
  const { PATH, HOME } = process.env;
  const world = openForSuite(lab, openWorld);
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
    process.env.PATH = [bench.path, PATH].join(delimiter);
    process.env.HOME = join(bench.path, 'person');
  });
  afterEach(async () => {
    Object.assign(process.env, { PATH, HOME });
    await bench.clear();
  });

  const login = (words: string[], terminal?: number) =>
    world.cli(
      ['models', 'cli', 'login', ...words, '--home', bench.home],
      terminal === undefined ? {} : { terminal },
    );

  /** A tool that a person may use to log in. */
  const lay = async (name: string, script: string): Promise<void> => {
    await writeFile(join(bench.path, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bench.path, name), 0o755);
  };

  it('tells how the tools stand, and what they have told', async () => {
    const status = await world.cli(['models', 'cli', 'status']);
    expect([status.code, status.stdout]).to.equal([
      0,
      ['claude', 'codex', 'gemini', 'opencode']
        .map((name) => `${name}\tfalse\tfalse\t\t\n`)
        .join(''),
    ]);
    const quota = await world.cli(['models', 'cli', 'quota', '--json']);
    expect(JSON.parse(quota.stdout).quotas[0]).to.equal({
      ...{ name: 'claude', used: null, limit: null },
      ...{ resetsAt: null, exhausted: null, source: null },
    });
    const shown = await world.cli(['models', 'cli', 'status'], { terminal: 80 });
    expect(shown.stdout).to.contain('not installed');
  });

  it('logs a tool in at a HOME of its own, with none of our settings', async () => {
    process.env.ADJUTANT_MASTER_KEY = 'canary';
    await lay(
      'claude',
      'echo "$* $HOME $ADJUTANT_MASTER_KEY" > "$CLAUDE_CONFIG_DIR/.credentials.json"',
    );
    const home = join(bench.home, 'clitools/claude');
    await mkdir(join(home, '.claude'), { recursive: true });
    const { code, stderr } = await login(['claude'], 80);
    delete process.env.ADJUTANT_MASTER_KEY;
    expect([code, stderr]).to.equal([
      0,
      'claude is logged in. Next: adjutant models create my-claude --provider cli --model-id claude\n',
    ]);
    expect(await readFile(join(home, '.claude/.credentials.json'), 'utf8')).to.equal(
      `auth login ${home} \n`,
    );
    expect((await stat(home)).mode & 0o777).to.equal(0o700);
  });

  it('says when no login came of it, and when there is nobody to log in', async () => {
    await lay('codex', 'exit 0');
    const without = await login(['codex'], 80);
    expect([without.code, without.stderr]).to.equal([
      1,
      'codex stored no login. Run the command again and log in.\n',
    ]);
    const absent = await login(['gemini'], 80);
    expect([absent.code, absent.stderr.split('\n')[0]]).to.equal([1, 'Cannot start gemini.']);
    const nobody = await login(['codex']);
    expect([nobody.code, nobody.stderr]).to.equal([
      2,
      'A login requires a terminal. Without a terminal, add --copy and --yes.\n',
    ]);
    const unknown = await login(['cloud']);
    expect([unknown.code, unknown.stderr]).to.equal([
      2,
      'Unknown tool "cloud". Tools: claude, codex, gemini, opencode.\n',
    ]);
  });

  it('copies a login only when it is told to', async () => {
    const own = join(bench.path, 'person/.codex/auth.json');
    const none = await login(['codex', '--copy', '--yes']);
    expect([none.code, none.stderr]).to.equal([
      1,
      'You have no login of codex on this machine. Run the command without --copy to log in.\n',
    ]);
    await mkdir(dirname(own), { recursive: true });
    await writeFile(own, '{"token":"mine"}', { mode: 0o644 });
    const unasked = await login(['codex', '--copy']);
    expect(unasked.code).to.equal(2);
    expect((await login(['codex', '--copy', '--yes'])).code).to.equal(0);
    const copy = join(bench.home, 'clitools/codex/.codex/auth.json');
    expect(await readFile(copy, 'utf8')).to.equal('{"token":"mine"}');
    expect((await stat(copy)).mode & 0o777).to.equal(0o600);
  });
});
