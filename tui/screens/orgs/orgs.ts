import type { Org } from '../../../src/client/index.js';
import type { PageNeed, ScreenPage } from '../../page.js';
import { column, stateColumn } from '../../parts/table.js';
import { countedNoun, factRows } from '../../parts/text.js';
import { listRows } from '../../state/lists.js';
import { isAdmin } from '../../state/session.js';
import type { State } from '../../state/state.js';
import { listPage } from '../list.js';
import { approveAct, createOrgAct, orgActs, withAdd } from './acts.js';
import {
  formatApproval,
  formatProvisioning,
  formatSso,
  type ListedOrg,
  listedOrgFacts,
} from './facts.js';

export const ORG_NEEDS: readonly PageNeed[] = [
  { is: 'list', list: 'orgs', everyMs: 15_000 },
  { is: 'channel', channel: 'notification' },
];

/** For admins, those of others that wait for approval come first. */
const orgRows = ({ lists }: State): ListedOrg[] => [
  ...listRows(lists.waitingOrgs)
    .filter(({ id }) => !lists.orgs.byId[id])
    .map((org) => ({ ...org, role: undefined })),
  ...listRows(lists.orgs),
];

const ifMember = (row: ListedOrg, format: (org: Org) => string): string =>
  row.role ? format(row) : '-';

export const orgsPage: ScreenPage = withAdd(
  listPage<ListedOrg>({
    name: 'team',
    title: 'Organizations',
    noun: 'organization',
    list: 'orgs',
    isWide: () => true,
    rows: orgRows,
    item: (org) => {
      const facts = { status: formatApproval(org), role: org.role ?? '' };
      return { id: org.id, name: org.slug, words: `${org.name} ${facts.status}`, facts };
    },
    columns: ({ lists: { orgs, waitingOrgs } }) => [
      column('NAME', [8, 32, 0], ({ slug }) => slug),
      column('FULL NAME', [9, 60, 4], ({ name }) => name),
      column('YOUR ROLE', [9, 9, 0], ({ role }) => role ?? 'none'),
      column('MEMBERS', [7, 9, 3], ({ members }) => String(members)),
      stateColumn(
        ...(['APPROVAL', [8, 12, 0]] as const),
        (org) => orgs.busy[org.id] ?? waitingOrgs.busy[org.id] ?? formatApproval(org),
      ),
      column('SSO', [3, 8, 1], (org) => ifMember(org, formatSso)),
      column('PROVISIONING', [4, 12, 2], (org) => ifMember(org, formatProvisioning)),
    ],
    detail: ({ session: { now } }, org, width) => factRows(listedOrgFacts(org, now), width),
    empty: [
      'You are in no organization.',
      '  a  create one      adjutant orgs create',
      '  with an invite     adjutant orgs join -',
    ],
    opens: ({ id, role }) => (role ? { page: 'org', id } : null),
    needs: (state) => [
      ...ORG_NEEDS,
      // Not reloaded on a timer, because each load adds an entry to the audit log.
      ...(isAdmin(state) ? [{ is: 'list' as const, list: 'waitingOrgs' as const }] : []),
    ],
    acts: (org, { lists }) => {
      const waiting = lists.waitingOrgs.byId[org.id];
      return { start: waiting && approveAct(waiting), ...(org.role && orgActs(org)) };
    },
    leaves: (org) => ({
      edit: (org?.role === 'owner' || org?.role === 'admin') && ['orgs', 'update', org.id],
    }),
    summary: (_, rows) => {
      const waiting = rows.filter(({ approved }) => !approved).length;
      const note = waiting > 0 ? `, ${waiting} waiting for approval` : '';
      return `${countedNoun(rows.length, 'organization')}${note}`;
    },
  }),
  createOrgAct,
);
