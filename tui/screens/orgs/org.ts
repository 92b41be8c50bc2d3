import type { Org, OrgInvite } from '../../../src/client/index.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { row, tonedSpan } from '../../parts/row.js';
import { column, stateColumn } from '../../parts/table.js';
import { factRows } from '../../parts/text.js';
import { formatAge, formatTimeLeft } from '../../parts/times.js';
import { listRows } from '../../state/lists.js';
import type { OrgMemberItem } from '../../state/orgs.js';
import type { ListName } from '../../state/rows.js';
import type { State } from '../../state/state.js';
import { topView } from '../../state/ui.js';
import { textPage } from '../detail.js';
import { listPage } from '../list.js';
import { tabbedPage } from '../tabbed.js';
import { addMemberAct, inviteAct, memberActs, withAdd, withdrawAct } from './acts.js';
import { settingsFacts } from './facts.js';
import { ORG_NEEDS } from './orgs.js';

/** `null` if the user is not a member of it, or no longer. */
const shownOrg = ({ ui, lists }: State): Org | null =>
  lists.orgs.byId[topView(ui).id ?? ''] ?? null;

/** `null` also if the user may not change it. */
const ifManaged = <T>(state: State, make: (org: Org) => T): T | null => {
  const org = shownOrg(state);
  return org && org.role !== 'member' ? make(org) : null;
};

const needsOf =
  (list: ListName) =>
  ({ ui }: State): PageNeed[] => [{ is: 'list', list, of: topView(ui).id, everyMs: 15_000 }];

const members = withAdd(
  listPage<OrgMemberItem>({
    name: 'org',
    title: 'Members',
    noun: 'member',
    list: 'orgMembers',
    rows: ({ lists }) => listRows(lists.orgMembers),
    item: ({ id, username, displayName, role }) => ({
      ...{ id, name: username, words: `${displayName ?? ''} ${role}`, facts: { role } },
    }),
    columns: ({ session: { now }, lists }) => [
      column('NAME', [10, 40, 0], ({ username }) => username),
      stateColumn('ROLE', [6, 14, 0], ({ id, role }) => lists.orgMembers.busy[id] ?? role),
      column('JOINED', [6, 6, 2], ({ createdAt }) => formatAge(createdAt, now)),
      column('FULL NAME', [9, 60, 1], ({ displayName }) => displayName ?? ''),
    ],
    empty: ['No members.'],
    needs: needsOf('orgMembers'),
    acts: (member, state) => {
      const isSelf = member.username === state.session.who?.username;
      return ifManaged(state, (org) => memberActs(member, org, isSelf)) ?? {};
    },
  }),
  (state) => ifManaged(state, addMemberAct),
);

const invites = withAdd(
  listPage<OrgInvite>({
    name: 'org',
    title: 'Invites',
    noun: 'open invite',
    list: 'orgInvites',
    rows: ({ lists }) => listRows(lists.orgInvites),
    item: ({ id, email, role }) => ({ id, name: email ?? 'anyone', words: role }),
    columns: ({ session: { now }, lists }) => [
      column('FOR', [10, 60, 0], ({ email }) => email ?? 'anyone'),
      stateColumn('ROLE', [6, 14, 0], ({ id, role }) => lists.orgInvites.busy[id] ?? role),
      column('CREATED BY', [10, 30, 1], ({ invitedBy }) => invitedBy),
      column('ENDS IN', [8, 10, 2], ({ expiresAt }) => formatTimeLeft(expiresAt, now)),
    ],
    empty: ['No open invites.', '  a  invite a user who has an account'],
    needs: needsOf('orgInvites'),
    acts: (invite, state) => ({ delete: ifManaged(state, (org) => withdrawAct(invite, org)) }),
  }),
  (state) => ifManaged(state, inviteAct),
);

const GONE = [
  row('You are not a member of this organization, or it was deleted.'),
  row('  esc  back'),
];

const settings: ScreenPage = {
  ...textPage({
    name: 'org',
    title: 'Settings',
    noun: 'organization',
    list: 'orgSettings',
    text: (state, width) => {
      const { lists, session } = state;
      if (shownOrg(state) === null && lists.orgs.loadedAt !== null) return GONE;
      const items = listRows(lists.orgSettings);
      return items.flatMap((item) => factRows(settingsFacts(item, session.now), width));
    },
    empty: () => [],
  }),
  leaves: (state) => ifManaged(state, ({ id }) => ({ edit: ['orgs', 'update', id] })) ?? {},
  needs: needsOf('orgSettings'),
};

/** Members see no invites. Without the organization, the settings say why. */
export const orgPage = tabbedPage({
  name: 'org',
  title: 'Organization',
  parts: [members, invites, settings],
  shown: (state) => {
    const org = shownOrg(state);
    if (org === null) return [settings];
    return org.role === 'member' ? [members, settings] : [members, invites, settings];
  },
  head: (state) => {
    const { slug, name, role, approved } = shownOrg(state) ?? {};
    const approval = approved ? 'approved' : 'waiting for approval';
    return slug === undefined
      ? []
      : [row(tonedSpan('strong', slug), `   ${name}`), row(`you are ${role}   ${approval}`)];
  },
  needs: ORG_NEEDS,
  line: (part, { ui }) => {
    const { id } = topView(ui);
    return `adjutant orgs ${part === settings ? 'get' : `${part.title.toLowerCase()} list`} ${id}`;
  },
});
