import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sections } from '../../cli/entries.js';
import { topics } from '../../cli/topics.js';
import { resources } from '../../src/resources.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The command that reaches an endpoint, where it is not called as the endpoint is. */
const VERBS: Record<string, string> = {
  'health get': 'health',
  'health detailed': 'health',
  'health ready': 'health',
  'health live': 'health',
  'health metrics': 'health',
  'auth register': 'register',
  'auth login': 'login',
  'auth logout': 'logout',
  'auth me': 'whoami',
  'logins list': 'auth sessions list',
  'logins delete': 'auth sessions delete',
  'logins refresh': 'auth refresh',
  'tokens list': 'auth tokens list',
  'tokens create': 'auth tokens create',
  'tokens delete': 'auth tokens delete',
  'totp setup': 'auth totp setup',
  'totp enable': 'auth totp enable',
  'totp verify': 'auth totp verify',
  'totp disable': 'auth totp disable',
  'passkeys list': 'auth passkeys list',
  'passkeys delete': 'auth passkeys delete',
  'passkeys redeem': 'login',
  'receivers byPath': 'hooks send',
  'receivers incoming': 'hooks send',
  'chat send': 'chat',
  'chat get': 'chat',
  'permissions list': 'skills permissions list',
  'permissions set': 'skills permissions set',
  'permissions reset': 'skills permissions reset',
  'skills execute': 'skills run',
  'skills accept': 'mcp accept',
  'skills refresh': 'mcp refresh',
  'skills mcp-add': 'mcp add',
  'skills mcp-remove': 'mcp delete',
  'models check': 'models test',
  'models routing': 'models routing get',
  'models set-routing': 'models routing set',
  'clitools status': 'models cli status',
  'clitools quota': 'models cli quota',
  'providers known': 'models known',
  'providers ollama': 'models available',
  'providers litellm': 'models available',
  'notifications set-preferences': 'notifications preferences',
  'channels codes': 'channels link',
  'channels preview': 'channels link',
  'platforms update': 'platforms set',
  'outbox notice': 'notifications sendings',
  'users reset': 'auth reset',
  'vault create': 'vault add',
  'overview get': 'status',
  'logs list': 'logs',
  'doctor look': 'doctor',
  'backups list': 'backup list',
  'backups create': 'backup create',
  'backups verify': 'backup verify',
  'backups get': 'backup create',
  'backups cancel': 'backup cancel',
};

const BROWSER = 'the browser holds the passkey: its page calls this';
const PLATFORM = 'a chat platform calls this';

/** Endpoints that no command calls, and why. */
const REASONS: Record<string, string> = {
  'passkeys register': BROWSER,
  'passkeys authenticate': BROWSER,
  'passkeys grant': BROWSER,
  'messengers teamchat': PLATFORM,
  'messengers messenger': PLATFORM,
  'messengers handshake': PLATFORM,
  'auth ticket': 'a browser opens a socket with it; the command line sends its token in a header',
};

interface Reached {
  name: string;
  isUnbuilt: boolean;
}

const reached: Reached[] = resources.flatMap(({ name, contract }) =>
  Object.entries(contract).map(([key, endpoint]) => ({
    name: `${name} ${key}`,
    isUnbuilt: endpoint.unbuilt === true,
  })),
);

/** Every command by its words: `hooks list`, `whoami`. */
const verbs = async (): Promise<string[]> => {
  const entries = sections.flatMap((section) => section.entries);
  const loaded = await Promise.all(
    entries.map(async ({ name, load }) => ({ name, of: await load() })),
  );
  return loaded.flatMap(({ name, of }) =>
    'commands' in of ? of.commands.map((command) => `${name} ${command.name}`) : [name],
  );
};

describe('the command tree', () => {
  it('reaches every endpoint that is built, or says why not', async () => {
    const known = await verbs();
    const missing = reached
      .filter(({ name, isUnbuilt }) => !isUnbuilt && !REASONS[name])
      .map(({ name }) => ({ name, verb: VERBS[name] ?? name }))
      .filter(({ verb }) => !known.includes(verb));
    expect(missing).to.equal([]);
  });

  it('has no row for what is gone, named alike, or reached after all', async () => {
    const known = await verbs();
    const names = reached.filter(({ isUnbuilt }) => !isUnbuilt).map(({ name }) => name);
    const rows = [...Object.keys(VERBS), ...Object.keys(REASONS)];
    const stale = rows.filter((name) => !names.includes(name) || known.includes(name));
    const twice = Object.keys(VERBS).filter((name) => REASONS[name]);
    expect([stale, twice]).to.equal([[], []]);
  });

  it('has no command for what is not built', async () => {
    const built = resources.filter(({ name }) => name !== 'unbuilt').map(({ name }) => name);
    const resourceOf = (name: string) => name.split('/')[2] ?? '';
    const waiting = reached
      .filter(({ name, isUnbuilt }) => isUnbuilt && !built.includes(resourceOf(name)))
      .map(({ name }) => resourceOf(name));
    const first = (await verbs()).map((verb) => verb.split(' ')[0]);
    expect(waiting.filter((resource) => first.includes(resource))).to.equal([]);
  });

  it('has the commands that the topics speak of', async () => {
    const known = await verbs();
    const groups = sections.flatMap(({ entries }) => entries.map(({ name }) => name));
    const said = Object.values(topics).flatMap((lines) =>
      [...lines.join('\n').matchAll(/adjutant ((?:[a-z]+[a-z-]* ?)+)/g)].map(([, words = '']) =>
        words.trim().split(' '),
      ),
    );
    const isThere = (words: string[]) =>
      [1, 2, 3].some((count) => known.includes(words.slice(0, count).join(' '))) ||
      groups.includes(words.join(' '));
    expect(said.filter((words) => !isThere(words))).to.equal([]);
  });

  it('gives no name twice, aliases included', async () => {
    for (const { load, name } of sections.flatMap((section) => section.entries)) {
      const of = await load();
      if (!('commands' in of)) continue;
      const words = of.commands.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
      expect([name, words]).to.equal([name, [...new Set(words)]]);
    }
  });
});
