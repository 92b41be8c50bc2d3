import type { Client, Credential } from '../../src/client/index.js';
import type { ScreenPage } from '../page.js';
import { orgColumns, orgFacts } from '../parts/orgs.js';
import { column, numberColumn } from '../parts/table.js';
import { factRows } from '../parts/text.js';
import { formatAge, formatTimeLeft, timeOfEvent } from '../parts/times.js';
import { type Act, actTarget, reportDone } from '../state/act.js';
import { listRows } from '../state/lists.js';
import type { State } from '../state/state.js';
import { listPage } from './list.js';

const SOON_MS = 7 * 86_400_000;

/** Remaining time, in upper case below a week. */
const formatCredentialExpiry = ({ expiresAt }: Credential, now: number): string => {
  if (expiresAt === null) return 'never';
  const ms = Date.parse(expiresAt) - now;
  if (ms <= 0) return 'EXPIRED';
  return ms < SOON_MS
    ? `IN ${formatTimeLeft(expiresAt, now).toUpperCase()}`
    : formatTimeLeft(expiresAt, now);
};

const listCredentialFacts = (state: State, of: Credential, now: number): [string, string][] => [
  ['Name', `${of.name}   version ${of.version}`],
  ...orgFacts(state, of),
  ['Hosts', of.allowedHosts.join(', ') || 'none: never sent'],
  ['Tools', of.allowedTools.join(', ') || 'none'],
  ['Rotated', of.rotatedAt === null ? 'never' : `${formatAge(of.rotatedAt, now)} ago`],
  ...(of.rotateDueAt === null
    ? []
    : [['Due', timeOfEvent(of.rotateDueAt, now)] satisfies [string, string]]),
  ['Used', of.lastUsedAt === null ? 'never' : `${formatAge(of.lastUsedAt, now)} ago`],
  ['About', of.description ?? '-'],
];

/**
 * Whether the daemon can create a new value. A value issued by somebody else is entered on the
 * command line.
 */
const isMade = ({ type }: Credential): boolean => type === 'webhook_secret';

/** The new value is shown in a sheet and stored nowhere else. */
const rotateAct = ({ id, name }: Credential): Act => ({
  ...actTarget('credentials', id),
  text: `Rotate ${name}`,
  line: `adjutant vault rotate ${id}`,
  doing: 'rotating…',
  ask: {
    lines: [
      `Create a new value for ${name}? It is shown once.`,
      'The current value stays valid for an hour. Own value: adjutant vault rotate',
    ],
  },
  call: async ({ vault }) => {
    const { credential, value } = await vault.rotate({ id, body: {} });
    const message = `${name} is now version ${credential.version}`;
    if (value === undefined) return message;
    const title = `New value of ${name}, version ${credential.version}. It will not be shown again.`;
    return { message, secret: { title, value } };
  },
});

/** The earlier value can be restored while it is still valid. */
const credentialActs = (credential: Credential) => {
  const { id, name, version } = credential;
  return {
    rotate: isMade(credential) && rotateAct(credential),
    use: version > 1 && {
      ...actTarget('credentials', id),
      text: `Use the earlier value of ${name}`,
      line: `adjutant vault restore ${id}`,
      doing: 'restoring…',
      ask: {
        lines: [
          `Use the previous value of ${name} again?`,
          'It becomes a new version. The current value stays valid for an hour.',
        ],
      },
      call: async ({ vault }: Client) => {
        const { version } = await vault.restore({ id, body: {} });
        return `${name} is now version ${version}, with the earlier value`;
      },
    },
    delete: {
      ...actTarget('credentials', id),
      text: `Delete credential ${name}`,
      line: `adjutant vault delete ${id}`,
      doing: 'deleting…',
      ask: {
        lines: [
          `Delete ${name} and all its versions?`,
          'Everything that uses the credential will fail. There is no undo.',
        ],
        name,
      },
      call: ({ vault }: Client) => reportDone(vault.delete({ id }), `${name} is deleted`),
    },
  };
};

export const vaultPage: ScreenPage = listPage<Credential>({
  name: 'vault',
  title: 'Vault',
  noun: 'credential',
  list: 'credentials',
  rows: ({ lists }) => listRows(lists.credentials),
  item: ({ id, name, type, tags, description }) => ({
    id,
    name,
    words: `${type} ${tags.join(' ')} ${description ?? ''}`,
    facts: { type },
  }),
  columns: (state) => {
    const { lists, session } = state;
    const { now } = session;
    return [
      column('NAME', [12, 40, 0], ({ name }) => name),
      column('TYPE', [8, 14, 2], ({ id, type }) => lists.credentials.busy[id] ?? type),
      numberColumn('VERSION', [7, 7, 4], ({ version }) => String(version)),
      {
        ...column<Credential>('EXPIRES', [9, 14, 1], (credential) =>
          formatCredentialExpiry(credential, now),
        ),
        tone: (credential) =>
          /^[A-Z]/.test(formatCredentialExpiry(credential, now)) ? 'warn' : undefined,
      },
      column('USED', [5, 6, 3], ({ lastUsedAt }) => formatAge(lastUsedAt, now)),
      column('ALLOWED FOR', [11, 60, 5], ({ allowedTools }) => allowedTools.join(', ') || '-'),
      ...orgColumns<Credential>(
        state,
        listRows(lists.credentials).map(({ orgId }) => orgId),
        ({ orgId }) => orgId,
      ),
    ];
  },
  detail: (state, credential, width) =>
    factRows(listCredentialFacts(state, credential, state.session.now), width),
  empty: ['No credentials yet.', '  a  add one      adjutant vault add'],
  everyMs: 30_000,
  acts: credentialActs,
  leaves: (credential) => ({
    add: ['vault', 'create'],
    edit: credential && ['vault', 'update', credential.id],
    rotate: credential && !isMade(credential) && ['vault', 'rotate', credential.id],
  }),
  glossary: [
    ['version', 'after R the previous value stays valid for an hour; u makes it current again'],
  ],
});
