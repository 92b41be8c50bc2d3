import type { AccessToken, Account, AuditEntry, LoginSession } from '../../src/client/index.js';
import { column, stateColumn } from '../parts/table.js';
import { factRows } from '../parts/text.js';
import { formatAge, timeOfEvent } from '../parts/times.js';
import { actTarget, reportDone } from '../state/act.js';
import { listRows } from '../state/lists.js';
import { isAdmin } from '../state/session.js';
import { listPage } from './list.js';
import { orgsPage } from './orgs/orgs.js';
import { tabbedPage } from './tabbed.js';

/**
 * The users and the audit log are loaded once, and again by ctrl-r, because each reading adds an
 * entry to the audit log.
 */

const formatRole = ({ role, disabled }: Account): string => (disabled ? 'disabled' : role);
const formatSecondFactors = ({ totpEnabled, passkeys }: Account): string =>
  [totpEnabled && 'code', passkeys > 0 && 'passkey'].filter(Boolean).join(', ') || 'none';

const users = listPage<Account>({
  name: 'team',
  title: 'Users',
  noun: 'user',
  list: 'users',
  rows: ({ lists }) => listRows(lists.users),
  item: ({ id, username, role, email, disabled }) => ({
    id,
    name: username,
    words: `${role} ${email ?? ''} ${disabled ? 'disabled' : ''}`,
    facts: { role },
  }),
  columns: ({ session: { now }, lists }) => [
    column('NAME', [10, 40, 0], ({ username }) => username),
    stateColumn('ROLE', [8, 10, 0], (user) => lists.users.busy[user.id] ?? formatRole(user)),
    column('SECOND FACTOR', [8, 14, 2], formatSecondFactors),
    column('SINCE', [5, 6, 3], ({ createdAt }) => formatAge(createdAt, now)),
    column('E-MAIL', [10, 60, 4], ({ email }) => email ?? ''),
  ],
  empty: ['No other users.', '  a  invite a user      adjutant users invite'],
  acts: ({ id, username, disabled }, { session }) => ({
    start: session.who?.username !== username &&
      disabled && {
        ...actTarget('users', id),
        text: `Enable user ${username}`,
        line: `adjutant users enable ${id}`,
        doing: 'enabling…',
        call: ({ users }) =>
          reportDone(users.update({ id, body: { disabled: false } }), `${username} is enabled`),
      },
    pause: session.who?.username !== username &&
      !disabled && {
        ...actTarget('users', id),
        text: `Disable user ${username}`,
        line: `adjutant users disable ${id}`,
        doing: 'disabling…',
        ask: { lines: [`Disable ${username}? Sessions, tokens, sockets and agents end at once.`] },
        call: ({ users }) =>
          reportDone(users.update({ id, body: { disabled: true } }), `${username} is disabled`),
      },
  }),
  leaves: (user) => ({ add: ['users', 'invite'], edit: user && ['users', 'update', user.id] }),
});

const audit = listPage<AuditEntry>({
  name: 'team',
  title: 'Audit',
  noun: 'entry',
  nouns: 'entries',
  list: 'audit',
  rows: ({ lists }) => listRows(lists.audit),
  item: ({ id, action, actorName, outcome, target }) => ({
    id,
    name: action,
    words: `${actorName ?? ''} ${target ?? ''} ${outcome}`,
    facts: { status: outcome, action },
  }),
  columns: ({ session: { now } }) => [
    column('TIME', [8, 19, 1], ({ at }) => timeOfEvent(at, now)),
    column('WHO', [8, 24, 0], ({ actorName, actorId }) => actorName ?? actorId),
    column('ACTION', [12, 30, 0], ({ action }) => action),
    stateColumn('OUTCOME', [7, 7, 2], ({ outcome }) => outcome),
    column('TARGET', [10, 60, 3], ({ target }) => target ?? ''),
  ],
  detail: (_, entry, width) =>
    factRows(
      [
        ['Number', String(entry.number)],
        ['From', entry.ip],
        ['Request', entry.requestId],
        ['Acting as', entry.impersonatorName ?? 'themselves'],
        ['Target', entry.target ?? '-'],
        ['Data', entry.data === null ? '-' : JSON.stringify(entry.data)],
      ],
      width,
    ),
  empty: ['No audit entries yet.'],
});

const sessionState = ({ current }: LoginSession): string => (current ? 'current' : '');

const logins = listPage<LoginSession>({
  name: 'team',
  title: 'Sessions',
  noun: 'session',
  list: 'logins',
  rows: ({ lists }) => listRows(lists.logins),
  item: ({ id, device, address, current }) => ({
    id,
    name: device ?? 'unnamed',
    words: `${address ?? ''} ${current ? 'this' : ''}`,
  }),
  columns: ({ session: { now }, lists }) => [
    column('DEVICE', [10, 40, 0], ({ device }) => device ?? 'unnamed'),
    column('STATE', [8, 10, 1], (login) => lists.logins.busy[login.id] ?? sessionState(login)),
    column('FROM', [9, 40, 2], ({ address }) => address ?? ''),
    column('USED', [5, 6, 1], ({ lastUsedAt }) => formatAge(lastUsedAt, now)),
    column('ENDS', [8, 19, 3], ({ expiresAt }) => timeOfEvent(expiresAt, now)),
  ],
  empty: ['You have no open sessions.'],
  acts: ({ id, device, current }) => ({
    delete: !current && {
      ...actTarget('logins', id),
      hint: 'end',
      text: `End session ${device ?? 'unnamed'}`,
      line: `adjutant auth sessions delete ${id}`,
      doing: 'ending…',
      ask: { lines: [`End the session ${device ?? id}? Its sockets end at once.`] },
      call: ({ logins }) => reportDone(logins.delete({ id }), 'Session ended'),
    },
  }),
});

const tokens = listPage<AccessToken>({
  name: 'team',
  title: 'Tokens',
  noun: 'token',
  list: 'tokens',
  rows: ({ lists }) => listRows(lists.tokens),
  item: ({ id, name, scopes }) => ({ id, name, words: (scopes ?? []).join(' ') }),
  columns: ({ session: { now }, lists }) => [
    column('NAME', [10, 40, 0], ({ id, name }) => lists.tokens.busy[id] ?? name),
    column('SCOPES', [10, 60, 1], ({ scopes }) => scopes?.join(' ') ?? 'all your rights'),
    column('USED', [5, 6, 2], ({ lastUsedAt }) => formatAge(lastUsedAt, now)),
    column('ENDS', [8, 19, 3], ({ expiresAt }) => timeOfEvent(expiresAt, now)),
  ],
  empty: ['No access tokens yet.', '  adjutant auth tokens create'],
  acts: ({ id, name }) => ({
    delete: {
      ...actTarget('tokens', id),
      hint: 'revoke',
      text: `Revoke token ${name}`,
      line: `adjutant auth tokens delete ${id}`,
      doing: 'revoking…',
      ask: { lines: [`Revoke ${name}? Programs that use it lose access at once.`], name },
      call: ({ tokens }) => reportDone(tokens.delete({ id }), `${name} is revoked`),
    },
  }),
});

const COMMANDS = ['users get', 'audit list', 'auth sessions list', 'auth tokens list', 'orgs get'];
const PARTS = [users, audit, logins, tokens, orgsPage] as const;

/** Only admins see all users and the audit log. */
export const teamPage = tabbedPage({
  name: 'team',
  title: 'Team',
  parts: PARTS,
  shown: (state) => (isAdmin(state) ? PARTS : [logins, tokens, orgsPage]),
  line: (part, _, selected) => {
    const command = `adjutant ${COMMANDS[PARTS.indexOf(part)]}`;
    if (!command.endsWith(' get')) return command;
    return selected ? `${command} ${selected}` : command.replace(/get$/, 'list');
  },
});
