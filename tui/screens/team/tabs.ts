import type { AccessToken, Account, AuditEntry, LoginSession } from '../../../src/client/index.js';
import type { ScreenPage } from '../../page.js';
import { factRows } from '../../parts/text.js';
import { since, timeOfEvent } from '../../parts/times.js';
import { listingScreen } from '../list.js';
import { disableUserAct, enableUserAct, endLoginAct, revoke } from './slice.js';

/**
 * The users and the audit log are loaded once, and again by ctrl-r, because each reading of them is
 * an entry of the audit log.
 */

const users = listingScreen<Account>({
  name: 'team',
  root: 'team',
  title: 'Users',
  noun: 'user',
  list: 'users',
  select: ({ lists }) => lists.users,
  item: ({ id, username, role, email, disabled }) => ({
    id,
    name: username,
    words: `${role} ${email ?? ''} ${disabled ? 'disabled' : ''}`,
    facts: { role },
  }),
  columns: ({ session: { now }, lists }) => [
    { head: 'NAME', text: ({ username }) => username, least: 10, most: 40, rank: 0 },
    {
      head: 'ROLE',
      text: ({ id, role, disabled }) => lists.users.busy[id] ?? (disabled ? 'disabled' : role),
      isState: true,
      least: 8,
      most: 10,
      rank: 0,
    },
    {
      head: 'SECOND FACTOR',
      text: ({ totpEnabled, passkeys }) =>
        [totpEnabled && 'code', passkeys > 0 && 'passkey'].filter(Boolean).join(', ') || 'none',
      least: 8,
      most: 14,
      rank: 2,
    },
    { head: 'SINCE', text: ({ createdAt }) => since(createdAt, now), least: 5, most: 6, rank: 3 },
    { head: 'E-MAIL', text: ({ email }) => email ?? '', least: 10, most: 60, rank: 4 },
  ],
  empty: ['Nobody but you.', '  a  ask somebody in      adjutant users invite'],
});
export const usersTab: ScreenPage = {
  ...users.page,
  acts: (state) => {
    const user = users.chosen(state);
    if (!user || user.username === state.session.who?.username) return {};
    return user.disabled ? { start: enableUserAct(user) } : { pause: disableUserAct(user) };
  },
  leaves: (state) => {
    const user = users.chosen(state);
    return { add: ['users', 'invite'], ...(user && { edit: ['users', 'update', user.id] }) };
  },
};

export const auditTab: ScreenPage = listingScreen<AuditEntry>({
  name: 'team',
  root: 'team',
  title: 'Audit',
  noun: 'entry',
  nouns: 'entries',
  list: 'audit',
  select: ({ lists }) => lists.audit,
  item: ({ id, action, actorName, outcome, target }) => ({
    id,
    name: action,
    words: `${actorName ?? ''} ${target ?? ''} ${outcome}`,
    facts: { status: outcome, action },
  }),
  columns: ({ session: { now } }) => [
    { head: 'TIME', text: ({ at }) => timeOfEvent(at, now), least: 8, most: 19, rank: 1 },
    {
      head: 'WHO',
      text: ({ actorName, actorId }) => actorName ?? actorId,
      least: 8,
      most: 24,
      rank: 0,
    },
    { head: 'ACTION', text: ({ action }) => action, least: 12, most: 30, rank: 0 },
    { head: 'OUTCOME', text: ({ outcome }) => outcome, isState: true, least: 7, most: 7, rank: 2 },
    { head: 'TARGET', text: ({ target }) => target ?? '', least: 10, most: 60, rank: 3 },
  ],
  detail: (_, entry, width) =>
    factRows(
      [
        ['Number', String(entry.number)],
        ['From', entry.ip],
        ['Request', entry.requestId],
        ['As', entry.impersonatorName ?? 'themselves'],
        ['Target', entry.target ?? '-'],
        ['More', entry.data === null ? '-' : JSON.stringify(entry.data)],
      ],
      width,
    ),
  empty: ['Nothing of weight was done yet.'],
}).page;

const logins = listingScreen<LoginSession>({
  name: 'team',
  root: 'team',
  title: 'Sessions',
  noun: 'session',
  list: 'logins',
  select: ({ lists }) => lists.logins,
  item: ({ id, device, address, current }) => ({
    id,
    name: device ?? 'unnamed',
    words: `${address ?? ''} ${current ? 'this' : ''}`,
  }),
  columns: ({ session: { now }, lists }) => [
    { head: 'DEVICE', text: ({ device }) => device ?? 'unnamed', least: 10, most: 40, rank: 0 },
    {
      head: 'STATE',
      text: ({ id, current }) => lists.logins.busy[id] ?? (current ? 'this one' : ''),
      least: 8,
      most: 10,
      rank: 1,
    },
    { head: 'FROM', text: ({ address }) => address ?? '', least: 9, most: 40, rank: 2 },
    { head: 'USED', text: ({ lastUsedAt }) => since(lastUsedAt, now), least: 5, most: 6, rank: 1 },
    {
      head: 'ENDS',
      text: ({ expiresAt }) => timeOfEvent(expiresAt, now),
      least: 8,
      most: 19,
      rank: 3,
    },
  ],
  empty: ['No login of yours is open.'],
});
export const loginsTab: ScreenPage = {
  ...logins.page,
  acts: (state) => {
    const login = logins.chosen(state);
    return login && !login.current ? { delete: endLoginAct(login) } : {};
  },
};

const tokens = listingScreen<AccessToken>({
  name: 'team',
  root: 'team',
  title: 'Tokens',
  noun: 'token',
  list: 'tokens',
  select: ({ lists }) => lists.tokens,
  item: ({ id, name, scopes }) => ({ id, name, words: (scopes ?? []).join(' ') }),
  columns: ({ session: { now }, lists }) => [
    {
      head: 'NAME',
      text: ({ id, name }) => lists.tokens.busy[id] ?? name,
      least: 10,
      most: 40,
      rank: 0,
    },
    {
      head: 'MAY',
      text: ({ scopes }) => scopes?.join(' ') ?? 'everything that you may',
      least: 10,
      most: 60,
      rank: 1,
    },
    { head: 'USED', text: ({ lastUsedAt }) => since(lastUsedAt, now), least: 5, most: 6, rank: 2 },
    {
      head: 'ENDS',
      text: ({ expiresAt }) => timeOfEvent(expiresAt, now),
      least: 8,
      most: 19,
      rank: 3,
    },
  ],
  empty: ['No tokens for programs of yours.', '  adjutant auth tokens create'],
});
export const tokensTab: ScreenPage = {
  ...tokens.page,
  acts: (state) => {
    const token = tokens.chosen(state);
    return token ? { delete: revoke(token) } : {};
  },
};
