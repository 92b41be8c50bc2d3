import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock } from '../../harness/app.js';
import { type Listening, listen } from '../../kernel/listen.js';
import { adjutant } from '../harness.js';
import { openWorld, type World } from '../world.js';

export const lab = Lab.script();
const { describe, it, before, beforeEach, after, afterEach } = lab;

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

describe('completion', () => {
  let world: World;
  let mute: Listening;
  let folder: string;
  const kept = process.env.XDG_CACHE_HOME;
  before(async () => {
    world = await openWorld();
    mute = await listen(() => {});
    for (const name of ['plain', 'two words', '$(id)']) {
      const trigger = { trigger: 'schedule' as const, triggerConfig: { cron: '0 0 1 1 *' } };
      const action = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
      await world.client.hooks.create({ body: { name, ...trigger, ...action } });
    }
  });
  after(async () => {
    await mute.close();
    await world.stop();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'adjutant-cache-'));
    process.env.XDG_CACHE_HOME = folder;
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    if (kept === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = kept;
  });

  let clock: FrozenClock;
  /** The words that fit; the daemon is named where a person would name it. */
  const fitting = async (...words: string[]): Promise<string[]> => {
    clock = frozenClock();
    const { code, stdout, stderr } = await adjutant(['__complete', '--', ...words], { clock });
    expect([code, stderr]).to.equal([0, '']);
    return lines(stdout).map((line) => line.split('\t')[0] ?? '');
  };
  const at = (url: string) => ['--server', url];
  const offered = (word: string): Promise<string[]> =>
    fitting('hooks', 'get', ...at(world.app.url), word);

  it('knows where it is in a line', async () => {
    expect(await fitting('hooks')).to.equal(['hooks']);
    expect(await fitting('auth', 't')).to.equal(['tokens', 'totp']);
    expect(await fitting('help', 'sign')).to.equal(['signatures']);
    expect(await fitting('help', 'hooks', 'li')).to.equal(['list', 'listen']);
    expect(await fitting('completion', '')).to.equal(['bash', 'zsh', 'fish']);
    expect(await fitting('models', 'available', '')).to.equal(['ollama', 'litellm']);
    expect(await fitting('hooks', 'xyzzy', '')).to.equal([]);
    expect(await fitting('whoami', '')).to.equal([]);
  });

  it('leaves paths to the shell', async () => {
    expect(await fitting('hooks', 'create', '--secret-file', '')).to.equal([':files']);
    expect(await fitting('--server-token-file', '')).to.equal([':files']);
    expect(await fitting('hooks', 'send', ...at(world.app.url), 'plain', '')).to.equal([':files']);
  });

  it('offers names that need no quotes, and the ends of ids for others', async () => {
    const found = await offered('');
    const { hooks } = await world.client.hooks.list();
    const idOf = (name: string) => hooks.find((hook) => hook.name === name)?.id.slice(-6);
    expect(found).to.equal([idOf('$(id)'), idOf('two words'), 'plain']);
  });

  it('offers names for flags that name a thing', async () => {
    await world.client.orgs.create({ body: { slug: 'acme', name: 'Acme Ltd' } });
    const list = ['tasks', 'list', ...at(world.app.url)];
    expect(await fitting(...list, '--org', '')).to.equal(['acme']);
    const agents = ['agents', 'list', ...at(world.app.url)];
    expect(await fitting(...agents, '--hook-id', 'pl')).to.equal(['plain']);
    expect(await fitting('orgs', 'get', ...at(world.app.url), 'a')).to.equal(['acme']);
  });

  it('asks the daemon once in half a minute, and keeps the answer to its user', async () => {
    const before = await offered('pl');
    const { hooks } = await world.client.hooks.list();
    const id = hooks.find(({ name }) => name === 'plain')?.id ?? '';
    await world.client.hooks.update({ id, body: { name: 'plainer' } });
    expect(await offered('pl')).to.equal(before);
    await world.client.hooks.update({ id, body: { name: 'plain' } });
    const [file = ''] = await readdir(join(folder, 'adjutant'));
    const mode = statSync(join(folder, 'adjutant', file)).mode & 0o777;
    expect([file.length, mode]).to.equal([32, 0o600]);
  });

  it('says nothing where the daemon is silent for 300 ms', async () => {
    const silent = fitting('hooks', 'get', ...at(mute.origin), '');
    await clock.waiting(300);
    clock.forward(300);
    expect(await silent).to.equal([]);
    expect(await fitting('hooks', 'get', '--server', 'nonsense', '')).to.equal([]);
  });

  it('refuses a shell that it does not know', async () => {
    const { code, stderr } = await adjutant(['completion', 'tcsh']);
    expect([code, stderr]).to.equal([2, 'No completion for "tcsh".\nShells: bash, zsh, fish\n']);
  });
});
