import { iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import {
  ExpectationFailed,
  type TransactionStep,
  UniqueViolation,
} from '../../store/engine/protocol.js';
import type {
  IdpRole,
  OrgIdentityRow,
  SamlRequestRow,
  SsoAttributes,
} from '../../store/tables/orgs.js';
import { ACCOUNTS_PER_SEAT } from '../rules.js';
import type { SsoDeps } from './deps.js';
import type { BoundIdentity, SsoOrgRow } from './queries.js';
import { type SamlAssertion, SamlRefused } from './saml.js';

export type SsoCaller = RequestContext & AuditRecorder;

export interface Subject {
  org: SsoOrgRow;
  assertion: SamlAssertion;
  now: number;
}

export const resultOf = ({ org, assertion, now }: Subject) => ({
  id: mint('result', now),
  org_id: org.org_id,
  at: iso(now),
  code: null,
  reason: null,
  name_id: assertion.nameId,
});

/** Finds the account by organization, issuer and NameID only, or creates one. */
export const enterAccount = async (
  deps: SsoDeps,
  subject: Subject,
  finish: (userId: string) => TransactionStep[],
): Promise<void> => {
  const { org, assertion, now } = subject;
  const { nameId } = assertion;
  const bound = { issuer: org.entity_id, nameId };
  const key = deps.accounts.keyOf(nameId);
  const known =
    (await deps.sso.identity(org.org_id, bound)) ??
    (await deps.sso.provisionedIdentity(org.org_id, { nameId, key }));
  if (!known) return createAccount(deps, subject, finish);
  refuseIdentity(known, nameId);
  const role = roleIn(subject);
  const isManaged = known.managed_by === org.org_id;
  await once(
    deps.sso.commit([
      ...finish(known.user_id),
      deps.sso.steps.bindIdentity(known.id, { ...bound, at: iso(now) }),
      ...(isManaged && role !== null && known.member_id !== null
        ? [deps.sso.steps.setMemberRole(known.member_id, role)]
        : []),
    ]),
    nameId,
  );
};

const refuseIdentity = (known: BoundIdentity, nameId: string): void => {
  const refused = (code: string, reason: string) =>
    new SamlRefused(code, reason, nameId, known.user_id);
  if (known.active !== 1 || known.deleted_at !== null) {
    throw refused(
      'identity_inactive',
      'The identity provider has disabled or deleted the user. Enable the user there',
    );
  }
  if (known.disabled_at !== null) {
    throw refused(
      'account_disabled',
      'The account of the user is disabled. An admin of the installation can enable it',
    );
  }
  if (known.role === 'admin') {
    throw refused(
      'admin_account',
      'The account is an admin of the installation, which cannot log in with single sign-on. Log in with a password or passkey',
    );
  }
  if (known.member_id === null) {
    throw refused(
      'membership_ended',
      'The user was removed from the organization. Add the user again',
    );
  }
};

const createAccount = async (
  deps: SsoDeps,
  subject: Subject,
  finish: (userId: string) => TransactionStep[],
): Promise<void> => {
  const { org, assertion, now } = subject;
  const { nameId } = assertion;
  const attributes: SsoAttributes = JSON.parse(org.attributes);
  const userName = await freeUserName(
    deps,
    subject,
    attributeValue(assertion, attributes.username),
  );
  const email = allowedEmail(org, attributeValue(assertion, attributes.email));
  const identity = identityRow(subject, deps.accounts.keyOf(userName), {
    user_name: userName,
    email,
    display_name: attributeValue(assertion, attributes.name),
  });
  const member = {
    id: mint('member', now),
    org_id: org.org_id,
    role: roleIn(subject) ?? org.default_role,
    created_at: iso(now),
  };
  // Members who were removed keep their accounts.
  if ((await deps.managed.count(org.org_id)) >= ACCOUNTS_PER_SEAT * org.max_members) {
    throw new SamlRefused(
      'org_full',
      'The organization has its maximum of accounts. An admin of the installation can raise maxMembers',
      nameId,
    );
  }
  const account = { orgId: org.org_id, prefix: org.slug, email };
  const create = deps.managed.create(account, (userId) => [
    deps.sso.steps.insertMember({ ...member, user_id: userId }),
    deps.sso.steps.insertIdentity({ ...identity, user_id: userId }),
    ...finish(userId),
  ]);
  await once(
    create.catch(async (error) => {
      if (!(error instanceof ExpectationFailed) || (await hasRoom(deps, org))) throw error;
      throw new SamlRefused(
        'org_full',
        `The organization has its maximum of ${org.max_members} members. An admin of the installation can raise maxMembers`,
        nameId,
      );
    }),
    nameId,
  );
};

const identityRow = (
  { org, assertion, now }: Subject,
  key: string,
  names: Pick<OrgIdentityRow, 'user_name' | 'email' | 'display_name'>,
): Omit<OrgIdentityRow, 'user_id'> => ({
  id: mint('identity', now),
  org_id: org.org_id,
  user_name_key: key,
  external_id: null,
  issuer: org.entity_id,
  name_id: assertion.nameId,
  given_name: null,
  family_name: null,
  active: 1,
  deleted_at: null,
  disabled_at: null,
  last_login_at: iso(now),
  created_at: iso(now),
  updated_at: iso(now),
  ...names,
});

const hasRoom = async ({ orgs }: SsoDeps, { org_id }: SsoOrgRow): Promise<boolean> => {
  const org = await orgs.findAny(org_id);
  return org !== undefined && org.members < org.max_members;
};

/** The name that the identity provider gives, or the NameID if another user has that name. */
const freeUserName = async (
  { sso, accounts }: SsoDeps,
  { org, assertion: { nameId } }: Subject,
  wanted: string | null,
): Promise<string> => {
  for (const name of [wanted, nameId]) {
    if (name === null) continue;
    if (!(await sso.isNameTaken(org.org_id, accounts.keyOf(name)))) return name;
  }
  throw new SamlRefused(
    'identity_conflict',
    'Another user of the organization has this name. Delete that user at the identity provider',
    nameId,
  );
};

const attributeValue = ({ attributes }: SamlAssertion, name: string | null): string | null => {
  const value = name === null ? undefined : attributes.get(name)?.[0];
  return value === undefined || value === '' || value.length > 254 ? null : value;
};

/** An identity provider can prove only addresses of domains that belong to its organization. */
const allowedEmail = ({ domains }: SsoOrgRow, email: string | null): string | null => {
  const owned: string[] = JSON.parse(domains);
  const domain = email === null ? null : /^[^@\s]+@([^@\s]+)$/.exec(email)?.[1]?.toLowerCase();
  return domain != null && owned.includes(domain) ? email : null;
};

/** Microsoft Entra sends this address instead of the groups of users with more than 150. */
const GROUPS_ELSEWHERE = 'http://schemas.microsoft.com/claims/groups.link';

/**
 * Null if the settings or the assertion say nothing about the groups of the user. Groups of SCIM take precedence.
 */
const roleIn = ({ org, assertion }: Subject): IdpRole | null => {
  if (org.scim_enabled === 1) return null;
  const { groups }: SsoAttributes = JSON.parse(org.attributes);
  const roles = new Map<string, IdpRole>(Object.entries(JSON.parse(org.group_roles)));
  if (groups === null || roles.size === 0) return null;
  if (assertion.attributes.has(GROUPS_ELSEWHERE)) return null;
  const found = (assertion.attributes.get(groups) ?? []).flatMap((group) => roles.get(group) ?? []);
  return found.includes('admin') ? 'admin' : (found[0] ?? org.default_role);
};

/** Links the identity to the account of the user who started the login, while logged in. */
export const linkAccount = async (
  { sso, accounts }: SsoDeps,
  subject: Subject,
  link: { request: SamlRequestRow; userId: string; used: TransactionStep[] },
  by: SsoCaller,
): Promise<void> => {
  const { org, assertion } = subject;
  const { nameId } = assertion;
  const { userId, request, used } = link;
  const account = await sso.accountOf(userId);
  const isOwn = account?.role === 'user' && account.managed_by === null;
  if (!isOwn || account.disabled_at !== null) {
    throw new SamlRefused(
      'account_not_linkable',
      'The account is disabled, or belongs to an admin or to another identity provider, so it cannot be linked. Use another account',
      nameId,
    );
  }
  const linking = by.record({ actorId: userId, target: org.org_id, data: { nameId } });
  await once(
    sso.commit([
      ...used,
      accounts.sessionHolds(request.link_session_id ?? ''),
      sso.steps.insertIdentity({
        ...identityRow(subject, accounts.keyOf(nameId), {
          user_name: nameId,
          email: null,
          display_name: null,
        }),
        user_id: userId,
      }),
      ...sso.steps.result(resultOf(subject)),
      { audit: { ...linking.audit, action: 'sso.link' } },
    ]),
    nameId,
  );
};

/** Another response with the same assertion, request or NameID may have been accepted meanwhile. */
const once = async (work: Promise<unknown>, nameId: string): Promise<void> => {
  try {
    await work;
  } catch (error) {
    const isUsed =
      error instanceof ExpectationFailed ||
      (error instanceof UniqueViolation && error.message.includes('saml_assertions'));
    if (isUsed) {
      throw new SamlRefused(
        'saml_replayed',
        'The response was already used, or the user was changed during the login. Start the login again',
        nameId,
      );
    }
    if (!(error instanceof UniqueViolation)) throw error;
    throw new SamlRefused(
      'identity_conflict',
      'The user at the identity provider or the account here is already linked, or was changed during the login. Unlink the account first, or start again',
      nameId,
    );
  }
};
