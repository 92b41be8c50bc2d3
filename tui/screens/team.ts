import type { AccessToken, Account, AuditEntry, LoginSession } from '../../src/client/index.js';
import type { ScreenPage } from '../page.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../parts/row.js';
import { column, stateColumn } from '../parts/table.js';
import { factRows } from '../parts/text.js';
import { formatAge, timeOfEvent } from '../parts/times.js';
import { actTarget, reportDone } from '../state/act.js';
import { listRows } from '../state/lists.js';
import type { State } from '../state/state.js';
import { topView } from '../state/ui.js';
import { tabsRow } from './detail.js';
import { listPage } from './list.js';

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
      text: `Revoke token ${name}`,
      line: `adjutant auth tokens delete ${id}`,
      doing: 'revoking…',
      ask: { lines: [`Revoke ${name}? Programs that use it lose access at once.`], name },
      call: ({ tokens }) => reportDone(tokens.delete({ id }), `${name} is revoked`),
    },
  }),
});

/** Only admins see the first two tabs. Every user sees their own login sessions and tokens. */
const TABS = ['Users', 'Audit', 'Sessions', 'Tokens'];
const OWN = 2;

const isAdmin = ({ session }: State): boolean => session.who?.role === 'admin';

/** Index of the shown tab. For other users the first two indexes mean their own tabs. */
const getTabIndex = (state: State): number => {
  const { tab } = topView(state.ui);
  return isAdmin(state) || tab >= OWN ? tab : tab + OWN;
};

const shown = (state: State): ScreenPage =>
  [users, audit, logins, tokens][getTabIndex(state)] ?? logins;

const teamView = (state: State, size: Size): ScreenRow[] => {
  const names = isAdmin(state) ? TABS : TABS.slice(OWN);
  const tab = isAdmin(state) ? getTabIndex(state) : getTabIndex(state) - OWN;
  const head = row(tonedSpan('muted', ''), ...tabsRow(names, tab));
  return [head, [], ...shown(state).view(state, { ...size, height: size.height - 2 })];
};

export const teamPage: ScreenPage = {
  name: 'team',
  title: 'Team',
  tabs: TABS,
  items: (state) => shown(state).items?.(state) ?? [],
  acts: (state) => shown(state).acts?.(state) ?? {},
  leaves: (state) => shown(state).leaves?.(state) ?? {},
  pages: (state) => shown(state).pages?.(state) ?? null,
  summary: (state) => shown(state).summary?.(state) ?? '',
  needs: (state) => shown(state).needs(state),
  view: teamView,
  cells: (state) => shown(state).cells?.(state) ?? [],
  detail: (state, width) => shown(state).text?.(state, width) ?? null,
};
