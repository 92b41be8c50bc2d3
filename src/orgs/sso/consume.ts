import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import { mint } from '../../kernel/ids.js';
import {
  ExpectationFailed,
  type TransactionStep,
  UniqueViolation,
} from '../../store/engine/protocol.js';
import type { IdpRole, SamlRequestRow, SsoAttributes } from '../../store/tables/orgs.js';
import { type SsoDeps, serviceProviderOf } from './deps.js';
import { computeDigest, identityProviderOf, secret, ssoCookie } from './login.js';
import type { BoundIdentity, SsoOrgRow } from './queries.js';
import {
  type Assertion,
  decodeResponse,
  peekAudience,
  SamlRefused,
  verifyResponse,
} from './saml.js';

const CODE_MS = 60_000;
/** The page then passes the login on to a program on the machine of the browser. */
const FOR_PROGRAM = '/sso#cli=';
const MAX_SESSION_MS = 12 * 3600 * 1000;

interface SamlForm {
  response: string;
  relayState: string;
  cookie: string | undefined;
}

/** Where the browser goes next. */
interface Accepted {
  location: string;
  cookie: string | null;
}

type By = RequestContext & AuditRecorder;

/**
 * Accepts a response once. The browser gets the code of a refusal; the reason is stored for the
 * admins of the organization.
 */
export const consumeResponse = async (deps: SsoDeps, form: SamlForm, by: By): Promise<Accepted> => {
  const { sso, clock } = deps;
  const now = iso(clock.now());
  const request = await sso.openRequest(computeDigest(form.relayState), now);
  let org: SsoOrgRow | undefined;
  try {
    org = request && (await sso.enabledById(request.org_id));
    const xml = decodeResponse(form.response);
    org ??= request ? undefined : await findOrgOf(deps, xml);
    if (!org) throw new SamlRefused('saml_unknown', 'No organization expects the response');
    return await acceptResponse(deps, { xml, form, request: request ?? null, org }, by);
  } catch (error) {
    if (!(error instanceof SamlRefused)) throw error;
    if (org) await addResult(deps, org, error);
    throw new Boom.Boom(
      'The login with single sign-on was refused. Start it again, or ask an admin of your organization',
      { statusCode: 401, data: { code: error.code } },
    );
  }
};

/** The audience is not verified yet. It only selects the settings to verify with. */
const findOrgOf = async (deps: SsoDeps, xml: string): Promise<SsoOrgRow | undefined> => {
  const audience = peekAudience(xml);
  const slug = audience === null ? null : (/\?org=([a-z0-9-]{2,32})$/.exec(audience)?.[1] ?? null);
  return slug === null ? undefined : deps.sso.enabledBySlug(slug);
};

const addResult = ({ sso, clock }: SsoDeps, { org_id }: SsoOrgRow, refused: SamlRefused) =>
  sso.addResult({
    id: mint('result', clock.now()),
    org_id,
    at: iso(clock.now()),
    code: refused.code,
    reason: refused.message.slice(0, 1000),
    name_id: refused.nameId,
  });

interface Arrival {
  xml: string;
  form: SamlForm;
  request: SamlRequestRow | null;
  org: SsoOrgRow;
}

const acceptResponse = async (
  deps: SsoDeps,
  { xml, form, request, org }: Arrival,
  by: By,
): Promise<Accepted> => {
  if (request && computeDigest(form.cookie ?? '') !== request.cookie_digest) {
    throw new SamlRefused(
      'saml_cookie',
      'Another browser started the login, or the browser sent no cookie',
    );
  }
  const sp = serviceProviderOf(deps, org.slug);
  if (!sp) throw new SamlRefused('saml_unknown', 'The daemon has no public https address');
  const now = deps.clock.now();
  const assertion = await verifyResponse(xml, { idp: identityProviderOf(org), sp, now });
  refuseUnrequested(assertion, request, org);
  const subject = { org, assertion, now };
  const used = [
    ...(request ? [deps.sso.steps.spendRequest(request)] : []),
    ...deps.sso.steps.spendAssertion(
      { org_id: org.org_id, assertion_id: assertion.id, expires_at: iso(assertion.expiresAt) },
      iso(now),
    ),
  ];
  if (request?.link_user_id != null) {
    await linkAccount(deps, subject, { request, userId: request.link_user_id, used }, by);
    return { location: '/sso#linked', cookie: null };
  }
  const code = secret();
  const cookie = request ? null : ssoCookie(undefined);
  const finish = (userId: string): TransactionStep[] => [
    ...used,
    ...deps.sso.steps.insertLogin(
      {
        code_digest: computeDigest(code),
        org_id: org.org_id,
        user_id: userId,
        cookie_digest: request?.cookie_digest ?? computeDigest(cookie?.value ?? ''),
        return_to: request?.return_to ?? '/',
        needs_confirmation: request ? 0 : 1,
        session_expires_at: iso(
          Math.min(now + MAX_SESSION_MS, assertion.sessionExpiresAt ?? Number.POSITIVE_INFINITY),
        ),
        expires_at: iso(now + CODE_MS),
      },
      iso(now),
    ),
    ...deps.sso.steps.result(resultOf(subject)),
    by.record({ actorId: userId, target: org.org_id, data: { nameId: assertion.nameId } }),
  ];
  await enterAccount(deps, subject, finish);
  const program = request?.return_to.startsWith(FOR_PROGRAM)
    ? `&${request.return_to.slice('/sso#'.length)}`
    : '';
  return { location: `/sso#code=${code}${program}`, cookie: cookie?.header ?? null };
};

const refuseUnrequested = (
  { inResponseTo, nameId }: Assertion,
  request: SamlRequestRow | null,
  org: SsoOrgRow,
): void => {
  if (inResponseTo !== (request?.id ?? null)) {
    throw new SamlRefused(
      'saml_in_response_to',
      'The response does not answer an open login of this daemon, or answers it again',
      nameId,
    );
  }
  if (request || org.allow_idp_initiated === 1) return;
  throw new SamlRefused(
    'saml_unsolicited',
    'The identity provider started the login. Set allowIdpInitiated to allow this',
    nameId,
  );
};

interface Subject {
  org: SsoOrgRow;
  assertion: Assertion;
  now: number;
}

const resultOf = ({ org, assertion, now }: Subject) => ({
  id: mint('result', now),
  org_id: org.org_id,
  at: iso(now),
  code: null,
  reason: null,
  name_id: assertion.nameId,
});

/** Finds the account by organization, issuer and NameID only, or creates one. */
const enterAccount = async (
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
  refbindIdentity(known, nameId);
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

const refbindIdentity = (known: BoundIdentity, nameId: string): void => {
  if (known.active !== 1 || known.deleted_at !== null) {
    throw new SamlRefused(
      'identity_inactive',
      'The identity provider has disabled or deleted the user',
      nameId,
    );
  }
  if (known.disabled_at !== null) {
    throw new SamlRefused('account_disabled', 'The account of the user is disabled', nameId);
  }
  if (known.role === 'admin') {
    throw new SamlRefused(
      'admin_account',
      'The account is an admin of the installation, which cannot log in with single sign-on',
      nameId,
    );
  }
  if (known.member_id === null) {
    throw new SamlRefused(
      'membership_ended',
      'The user was removed from the organization. Add the user again',
      nameId,
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
  const identity = {
    id: mint('identity', now),
    org_id: org.org_id,
    user_name: userName,
    user_name_key: deps.accounts.keyOf(userName),
    external_id: null,
    issuer: org.entity_id,
    name_id: nameId,
    email,
    given_name: null,
    family_name: null,
    display_name: attributeValue(assertion, attributes.name),
    active: 1,
    deleted_at: null,
    last_login_at: iso(now),
    created_at: iso(now),
    updated_at: iso(now),
  };
  const member = {
    id: mint('member', now),
    org_id: org.org_id,
    role: roleIn(subject) ?? org.default_role,
    created_at: iso(now),
  };
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
        `The organization has its maximum of ${org.max_members} members`,
        nameId,
      );
    }),
    nameId,
  );
};

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

const attributeValue = ({ attributes }: Assertion, name: string | null): string | null => {
  const value = name === null ? undefined : attributes.get(name)?.[0];
  return value === undefined || value === '' || value.length > 254 ? null : value;
};

/** An identity provider can prove only addresses of domains that belong to its organization. */
const allowedEmail = ({ domains }: SsoOrgRow, email: string | null): string | null => {
  const owned: string[] = JSON.parse(domains);
  const domain = email === null ? null : /^[^@\s]+@([^@\s]+)$/.exec(email)?.[1]?.toLowerCase();
  return domain != null && owned.includes(domain) ? email : null;
};

/** Null if the settings say nothing about the groups of the user. */
const roleIn = ({ org, assertion }: Subject): IdpRole | null => {
  const { groups }: SsoAttributes = JSON.parse(org.attributes);
  const roles = new Map<string, IdpRole>(Object.entries(JSON.parse(org.group_roles)));
  if (groups === null || roles.size === 0) return null;
  const found = (assertion.attributes.get(groups) ?? []).flatMap((group) => roles.get(group) ?? []);
  return found.includes('admin') ? 'admin' : (found[0] ?? org.default_role);
};

/** Links the identity to the account of the user who started the login, while logged in. */
const linkAccount = async (
  { sso, accounts }: SsoDeps,
  subject: Subject,
  link: { request: SamlRequestRow; userId: string; used: TransactionStep[] },
  by: By,
): Promise<void> => {
  const { org, assertion, now } = subject;
  const { nameId } = assertion;
  const { userId, request, used } = link;
  const account = await sso.accountOf(userId);
  if (account?.role !== 'user' || account.disabled_at !== null) {
    throw new SamlRefused('admin_account', 'The account cannot be linked', nameId);
  }
  const bound = { issuer: org.entity_id, nameId };
  if (
    (await sso.identity(org.org_id, bound)) ||
    (await sso.isNameTaken(org.org_id, accounts.keyOf(nameId))) ||
    (await sso.isAccountLinked(org.org_id, userId))
  ) {
    throw new SamlRefused('identity_conflict', 'The identity or account is linked already', nameId);
  }
  await once(
    sso.commit([
      ...used,
      accounts.sessionHolds(request.link_session_id ?? ''),
      sso.steps.insertIdentity({
        id: mint('identity', now),
        org_id: org.org_id,
        user_id: userId,
        user_name: nameId,
        user_name_key: accounts.keyOf(nameId),
        external_id: null,
        issuer: org.entity_id,
        name_id: nameId,
        email: null,
        given_name: null,
        family_name: null,
        display_name: null,
        active: 1,
        deleted_at: null,
        last_login_at: iso(now),
        created_at: iso(now),
        updated_at: iso(now),
      }),
      ...sso.steps.result(resultOf(subject)),
      by.record({ actorId: userId, target: org.org_id, data: { nameId, linked: true } }),
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
        'The response was already used, or the user was changed meanwhile',
        nameId,
      );
    }
    if (!(error instanceof UniqueViolation)) throw error;
    throw new SamlRefused(
      'identity_conflict',
      'The user was changed meanwhile. Start the login again',
      nameId,
    );
  }
};
