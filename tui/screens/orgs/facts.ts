import type { AdminOrg, Org } from '../../../src/client/index.js';
import { countedNoun, formatDollars } from '../../parts/text.js';
import { formatAge, timeOfEvent } from '../../parts/times.js';
import type { OrgSettingsItem } from '../../state/orgs.js';

type Fact = [string, string];

/** Organization of the user, or, for admins, another one that waits for approval. */
export type ListedOrg = Org | (AdminOrg & { role?: undefined });

const ROLES = {
  owner: 'owner: can change everything',
  admin: 'admin: can change members, invites and resources, but no owners',
  member: 'member: can use the resources',
};

export const formatApproval = ({ approved }: ListedOrg): string =>
  approved ? 'approved' : 'waiting';
export const formatSso = ({ sso }: Org): string => {
  if (!sso.enabled) return 'off';
  return sso.enforced ? 'required' : 'on';
};
export const formatProvisioning = ({ scim }: Org): string => (scim.enabled ? 'on' : 'off');

export const listedOrgFacts = (org: ListedOrg, now: number): Fact[] => [
  ['Name', org.name],
  ...(org.role ? [] : [['Owners', org.owners.join(', ')] satisfies Fact]),
  ['Your role', org.role ? ROLES[org.role] : 'none: you are not a member'],
  ['Members', `${org.members} of at most ${org.maxMembers}`],
  [
    'Approval',
    org.approved
      ? 'approved by an admin of this installation'
      : 'waiting for an admin of this installation. Until then it cannot own anything',
  ],
  ['Created', `${formatAge(org.createdAt, now)} ago`],
];

/** Cost on the days (UTC) that begin with a text such as `2026-03`, and its limit. */
const formatCost = ({ days }: OrgSettingsItem, prefix: string, limit: number | null): string => {
  const inRange = days.filter(({ key }) => key.startsWith(prefix));
  const cost = formatDollars(inRange.reduce((sum, { costUsd }) => sum + costUsd, 0));
  return `${cost}, ${limit === null ? 'no limit of its own' : `limit ${formatDollars(limit)}`}`;
};

const joinLines = <T>(rows: readonly T[], cells: (row: T) => (string | null)[]): string =>
  rows.map((row) => cells(row).filter(Boolean).join('  ')).join('\n');

export const settingsFacts = (item: OrgSettingsItem, now: number): Fact[] => {
  const { org, more } = item;
  const { dailyCostUsd, monthlyCostUsd, memberDailyCostUsd, dailyTokens } = org.limits;
  const today = new Date(now).toISOString().slice(0, '2026-03-01'.length);
  const { enabled, tokenSet, lastUsedAt } = org.scim;
  const token = `, ${tokenSet ? 'token set' : 'no token'}, last used: ${formatAge(lastUsedAt, now)}`;
  const facts: Fact[] = [
    ...listedOrgFacts(org, now),
    ['Cost today', formatCost(item, today, dailyCostUsd)],
    ['This month', formatCost(item, today.slice(0, '2026-03'.length), monthlyCostUsd)],
    [
      'Each member',
      memberDailyCostUsd === null ? '' : `limit ${formatDollars(memberDailyCostUsd)} a day`,
    ],
    ['Tokens', dailyTokens === null ? '' : `limit ${countedNoun(dailyTokens, 'token')} a day`],
    ['Single sign-on', [formatSso(org), ...(more?.sso.problems ?? [])].join('\n')],
    ['Provisioning', `${formatProvisioning(org)}${enabled ? token : ''}`],
    ...(more ? managerFacts(more, now) : []),
    ['ID', org.id],
  ];
  return facts.filter(([, value]) => value !== '');
};

const managerFacts = (
  { domains, sso, requests, entries }: NonNullable<OrgSettingsItem['more']>,
  now: number,
): Fact[] => [
  [
    'Domains',
    joinLines(domains, ({ domain, verifiedAt, name, value }) => [
      domain,
      verifiedAt === null
        ? `not verified: create the TXT record ${name} with ${value}`
        : 'verified',
    ]),
  ],
  [
    'Last logins',
    joinLines(sso.results.slice(0, 5), ({ at, nameId, code, reason }) => [
      ...[timeOfEvent(at, now), nameId, code === null ? 'logged in' : `refused: ${reason ?? code}`],
    ]),
  ],
  [
    'SCIM requests',
    joinLines(requests, ({ createdAt, method, path, status, detail }) => [
      ...[timeOfEvent(createdAt, now), `${method} ${path}`, String(status), detail],
    ]),
  ],
  [
    'Last changes',
    joinLines(entries, ({ at, actorName, actorId, action, outcome }) => [
      ...[timeOfEvent(at, now), actorName ?? actorId, action, outcome === 'ok' ? null : outcome],
    ]),
  ],
];
