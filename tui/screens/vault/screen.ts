import type { Credential } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { factRows } from '../../parts/text.js';
import { left, since, timeOfEvent } from '../../parts/times.js';
import type { State } from '../../state/state.js';
import { listingScreen } from '../list.js';
import { remove, restoreAct, rotateAct } from './slice.js';

const EVERY_MS = 30_000;
const SOON_MS = 7 * 86_400_000;

/** Returns the time that is left, in upper case if it is less than a week. */
const expiryOf = ({ expiresAt }: Credential, now: number): string => {
  if (expiresAt === null) return 'never';
  const ms = Date.parse(expiresAt) - now;
  if (ms <= 0) return 'EXPIRED';
  return ms < SOON_MS ? `IN ${left(expiresAt, now).toUpperCase()}` : left(expiresAt, now);
};

const { page, chosen } = listingScreen<Credential>({
  name: 'vault',
  root: 'vault',
  title: 'Vault',
  noun: 'credential',
  list: 'credentials',
  select: ({ lists }) => lists.credentials,
  item: ({ id, name, type, tags, description }) => ({
    id,
    name,
    words: `${type} ${tags.join(' ')} ${description ?? ''}`,
    facts: { type },
  }),
  columns: ({ session: { now }, lists }) => [
    { head: 'NAME', text: ({ name }) => name, least: 12, most: 40, rank: 0 },
    {
      head: 'TYPE',
      text: ({ id, type }) => lists.credentials.busy[id] ?? type,
      least: 8,
      most: 14,
      rank: 2,
    },
    {
      head: 'VERSION',
      text: ({ version }) => String(version),
      isNumber: true,
      least: 7,
      most: 7,
      rank: 4,
    },
    {
      head: 'EXPIRES',
      text: (credential) => expiryOf(credential, now),
      tone: (credential) => (/^[A-Z]/.test(expiryOf(credential, now)) ? 'warn' : undefined),
      least: 9,
      most: 14,
      rank: 1,
    },
    { head: 'USED', text: ({ lastUsedAt }) => since(lastUsedAt, now), least: 5, most: 6, rank: 3 },
    {
      head: 'ALLOWED FOR',
      text: ({ allowedTools }) => allowedTools.join(', ') || '-',
      least: 11,
      most: 60,
      rank: 5,
    },
  ],
  detail: (state, credential, width) => factRows(factsOf(state, credential), width),
  empty: ['No credentials yet.', '  a  put one in      adjutant vault add'],
  everyMs: EVERY_MS,
});

const factsOf = ({ session: { now } }: State, of: Credential): [string, string][] => [
  ['Name', `${of.name}   version ${of.version}`],
  ['Hosts', of.allowedHosts.join(', ') || 'none: it is sent nowhere'],
  ['Tools', of.allowedTools.join(', ') || 'none'],
  ['Rotated', of.rotatedAt === null ? 'never' : `${since(of.rotatedAt, now)} ago`],
  ...(of.rotateDueAt === null
    ? []
    : [['Due', timeOfEvent(of.rotateDueAt, now)] satisfies [string, string]]),
  ['Used', of.lastUsedAt === null ? 'never' : `${since(of.lastUsedAt, now)} ago`],
  ['About', of.description ?? '-'],
];

/**
 * True if the daemon can make a new value. A value that somebody else issues cannot be made, so the
 * command line asks for it.
 */
const isMade = ({ type }: Credential): boolean => type === 'webhook_secret';

export const vaultPage: ScreenPage = {
  ...page,
  acts: (state) => {
    const credential = chosen(state);
    if (!credential) return {};
    const made = isMade(credential) ? { rotate: rotateAct(credential) } : {};
    const earlier = credential.version > 1 ? { use: restoreAct(credential) } : {};
    return { ...made, ...earlier, delete: remove(credential) };
  },
  leaves: (state) => {
    const credential = chosen(state);
    return {
      add: ['vault', 'create'],
      ...(credential && { edit: ['vault', 'update', credential.id] }),
      ...(credential && !isMade(credential) && { rotate: ['vault', 'rotate', credential.id] }),
    };
  },
  glossary: [
    ['version', 'the one before stays good for an hour after R; until then, u uses it again'],
  ],
};
