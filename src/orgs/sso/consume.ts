import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { SamlRequestRow } from '../../store/tables/orgs.js';
import { enterAccount, linkAccount, resultOf, type SsoCaller } from './account.js';
import { type SsoDeps, serviceProviderOf } from './deps.js';
import { computeDigest, identityProviderOf, secret, ssoCookie } from './login.js';
import type { SsoOrgRow } from './queries.js';
import { decodeResponse, peekAudience, type SamlAssertion, SamlRefused } from './saml.js';
import { verifyResponse } from './verify.js';

const MINUTE_MS = 60_000;
const CODE_MS = MINUTE_MS;
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

/**
 * Accepts a response once. The browser gets the code of a refusal; the reason is stored for the
 * admins of the organization.
 */
export const consumeResponse = async (
  deps: SsoDeps,
  form: SamlForm,
  by: SsoCaller,
): Promise<Accepted> => {
  const { sso, clock } = deps;
  const now = iso(clock.now());
  const request = await sso.openRequest(computeDigest(form.relayState), now);
  let org: SsoOrgRow | undefined;
  try {
    org = request && (await sso.enabledById(request.org_id));
    const xml = decodeResponse(form.response);
    org ??= request ? undefined : await findOrgOf(deps, xml);
    if (!org)
      throw new SamlRefused(
        'saml_unknown',
        'The audience of the response belongs to no organization with single sign-on. Enter the entity ID of this daemon as audience at the identity provider',
      );
    return await acceptResponse(deps, { xml, form, request: request ?? null, org }, by);
  } catch (error) {
    if (!(error instanceof SamlRefused)) throw error;
    if (org) await addResult(deps, { org, refused: error }, by);
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

interface Refusal {
  org: SsoOrgRow;
  refused: SamlRefused;
}

const addResult = async (
  deps: SsoDeps,
  { org, refused }: Refusal,
  by: SsoCaller,
): Promise<void> => {
  const now = deps.clock.now();
  const { code, message, nameId } = refused;
  const row = {
    id: mint('result', now),
    org_id: org.org_id,
    at: iso(now),
    code,
    reason: message.slice(0, 1000),
    name_id: nameId,
  };
  await deps.sso.addResult(row, await auditSteps(deps, { org, refused }, by));
};

/** Of an account, once a minute per user and code, because repetitions would fill the log. */
const auditSteps = async (
  { sso, clock }: SsoDeps,
  { org, refused: { code, nameId, userId } }: Refusal,
  by: SsoCaller,
): Promise<TransactionStep[]> => {
  if (userId === null) return [];
  const since = iso(clock.now() - MINUTE_MS);
  const recent = (await sso.results(org.org_id)).filter(({ at }) => at > since);
  if (recent.some((each) => each.code === code && each.name_id === nameId)) return [];
  const { audit } = by.record({ actorId: userId, target: org.org_id, data: { code, nameId } });
  return [{ audit: { ...audit, outcome: 'denied' } }];
};

interface Arrival {
  xml: string;
  form: SamlForm;
  request: SamlRequestRow | null;
  org: SsoOrgRow;
}

const acceptResponse = async (
  deps: SsoDeps,
  { xml, form, request, org }: Arrival,
  by: SsoCaller,
): Promise<Accepted> => {
  if (request && computeDigest(form.cookie ?? '') !== request.cookie_digest) {
    throw new SamlRefused(
      'saml_cookie',
      'Another browser started the login, or the browser sent no cookie. Allow cookies, and start the login again in the same browser',
    );
  }
  const sp = serviceProviderOf(deps, org.slug);
  if (!sp)
    throw new SamlRefused(
      'saml_unknown',
      'The daemon has no public https address. Set up a tunnel, or set ADJUTANT_PUBLIC_URL',
    );
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
  { inResponseTo, nameId }: SamlAssertion,
  request: SamlRequestRow | null,
  org: SsoOrgRow,
): void => {
  if (inResponseTo !== (request?.id ?? null)) {
    throw new SamlRefused(
      'saml_in_response_to',
      'The response belongs to no open login of this daemon, or its login was already completed. Start the login again',
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
