import { scim } from '../../src/orgs/scim/contract.js';
import { resources } from '../harness/api.js';
import type { Leaf } from './leaves.js';

const BROWSER = 'the browser holds the passkey: its page calls this';
const PUSH = 'a browser subscribes itself; the command line has it among the channels';
const PLATFORM = 'a chat platform calls this';

/** Endpoints that no command calls, and why. */
export const REASONS: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(scim)
      .filter(([, { path }]) => path.startsWith('/api/scim/'))
      .map(([key]) => [`scim ${key}`, 'an identity provider calls it']),
  ),
  'sso login': BROWSER,
  'sso consume': BROWSER,
  'sso begin': BROWSER,
  'passkeys register': BROWSER,
  'passkeys authenticate': BROWSER,
  'passkeys grant': BROWSER,
  'push key': PUSH,
  'push subscribe': PUSH,
  'push list': PUSH,
  'push delete': PUSH,
  'messengers teamchat': PLATFORM,
  'messengers messenger': PLATFORM,
  'messengers handshake': PLATFORM,
  'tasks calendar': 'a calendar reads this, by the address of `tasks feed create`',
  'receivers tryAddress': 'a sender calls this before it uses the address',
  'receivers challenge': 'a hub calls this before it sends what was subscribed to',
  'auth ticket': 'a browser opens a socket with it; the command line sends its token in a header',
};

/** Endpoints that a command calls as others do, without the client. */
const SENT: Record<string, string[]> = {
  'hooks send': ['receivers byPath', 'receivers incoming'],
};

/** Every endpoint of the API by its name: `hooks list`. */
export const endpoints = resources.flatMap(({ name, contract }) =>
  Object.entries(contract).map(([key, endpoint]) => ({ name: `${name} ${key}`, endpoint })),
);

/** The endpoints that a command says it calls. */
export const calledBy = ({ path, command }: Leaf): typeof endpoints =>
  endpoints.filter(
    ({ name, endpoint }) =>
      SENT[path]?.includes(name) ||
      command.calls?.some((call) => (typeof call === 'string' ? call === name : call === endpoint)),
  );
