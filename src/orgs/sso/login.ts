import { createHash, randomBytes } from 'node:crypto';
import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import type { AuditRecorder, Recorder } from '../../kernel/contract/audit.js';
import type { Caller, RequestContext } from '../../kernel/contract/endpoint.js';
import type { Login } from '../../kernel/contract/login.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { findOrg } from '../service.js';
import { SSO_COOKIE } from './contract.js';
import { type SsoDeps, serviceProviderOf } from './deps.js';
import type { SsoOrgRow } from './queries.js';
import { createLoginUrl } from './saml.js';

const REQUEST_MS = 10 * 60 * 1000;
const COOKIE = /^[\w-]{43}$/;

export const computeDigest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url');

/** A browser with several logins under way keeps one cookie for all. */
export const ssoCookie = (existing: string | undefined): { value: string; header: string } => {
  const value = existing !== undefined && COOKIE.test(existing) ? existing : secret();
  const attributes = `Path=/; Max-Age=${REQUEST_MS / 1000}; HttpOnly; Secure; SameSite=None`;
  return { value, header: `${SSO_COOKIE}=${value}; ${attributes}` };
};

export const secret = (): string => randomBytes(32).toString('base64url');

interface LoginStart {
  org: SsoOrgRow;
  cookie: string;
  returnTo: string;
  link: { userId: string; sessionId: string } | null;
}

/** Returns the address at the identity provider. */
export const startLogin = async (deps: SsoDeps, slug: string, start: Omit<LoginStart, 'org'>) => {
  const org = await deps.sso.enabledBySlug(slug);
  if (!org) throw notEnabled();
  return requestLogin(deps, { org, ...start });
};

/** The same reply whether or not there is such an organization. */
const notEnabled = (): Boom.Boom =>
  Boom.notFound('No organization with that short name uses single sign-on', {
    code: 'sso_not_enabled',
  });

const requestLogin = async (
  deps: SsoDeps,
  start: LoginStart,
  steps: TransactionStep[] = [],
): Promise<string> => {
  const { org, cookie, returnTo, link } = start;
  const sp = serviceProviderOf(deps, org.slug);
  if (!sp) throw notEnabled();
  const now = deps.clock.now();
  const id = `_${randomBytes(20).toString('hex')}`;
  const relayState = secret();
  const also = [...steps, ...(link ? [deps.accounts.sessionHolds(link.sessionId)] : [])];
  await deps.sso.insertRequest(
    {
      id,
      org_id: org.org_id,
      relay_digest: computeDigest(relayState),
      cookie_digest: computeDigest(cookie),
      return_to: returnTo,
      link_user_id: link?.userId ?? null,
      link_session_id: link?.sessionId ?? null,
      expires_at: iso(now + REQUEST_MS),
    },
    iso(now),
    also,
  );
  return createLoginUrl(identityProviderOf(org), sp, { id, relayState });
};

export const identityProviderOf = ({ entity_id, sso_url, certificates }: SsoOrgRow) => ({
  entityId: entity_id,
  ssoUrl: sso_url,
  certificates: JSON.parse(certificates),
});

/** Only the owner of an account links it, logged in, and never the account of an admin. */
export const startLinking = async (
  deps: SsoDeps,
  { id, password, cookie }: { id: string; password: string | undefined; cookie: string },
  by: Caller & Recorder,
): Promise<string> => {
  await findOrg(deps, id, by.userId);
  const org = await deps.sso.enabledById(id);
  if (!org) {
    throw Boom.conflict(
      'Single sign-on is not enabled for the organization. Ask an owner of the organization',
      {
        code: 'sso_not_enabled',
      },
    );
  }
  if (by.role === 'admin') {
    throw Boom.forbidden('The account of an admin cannot be linked. Use another account', {
      code: 'admin_account',
    });
  }
  await deps.accounts.proveFresh(by, password);
  const link = { userId: by.userId, sessionId: by.sessionId };
  const record = by.record({ target: id, data: { userId: by.userId } });
  return requestLogin(deps, { org, cookie, returnTo: '/', link }, [record]);
};

/** An account that the organization manages has no other way to log in. */
export const unlinkAccount = async (
  deps: SsoDeps,
  id: string,
  by: Caller & Recorder,
): Promise<void> => {
  await findOrg(deps, id, by.userId);
  if ((await deps.sso.accountOf(by.userId))?.managed_by === id) {
    throw Boom.conflict(
      'The organization manages your account, which cannot be unlinked. An owner or admin can remove you from the organization',
      { code: 'account_managed' },
    );
  }
  const record = by.record({ target: id, data: { userId: by.userId } });
  if (await deps.sso.unlink(id, by.userId, [record])) return;
  throw Boom.notFound('Your account is not linked to the identity provider of the organization');
};

interface Redemption {
  code: string;
  /** False asks before the login in every case. */
  confirmed: boolean | undefined;
  cookie: string | undefined;
}

/** Begins the session of a verified login, in the browser that made it. */
export const beginSsoSession = async (
  deps: SsoDeps,
  { code, confirmed, cookie = '' }: Redemption,
  by: RequestContext & AuditRecorder,
): Promise<Login & { returnTo: string }> => {
  const { sso, accounts, clock } = deps;
  const now = iso(clock.now());
  const digest = computeDigest(code);
  const known = await sso.login(digest, now);
  if (!known || known.cookie_digest !== computeDigest(cookie)) throw codeRefused();
  const entry = await accounts.entryOf(known.user_id);
  if (!entry) throw codeRefused();
  const isAsked = known.needs_confirmation === 1 || confirmed === false;
  if (isAsked && !confirmed) throw await confirmationRequired(deps, known);
  if (!(await sso.takeLogin(digest, now))) throw codeRefused();
  const record = by.record({
    actorId: known.user_id,
    data: { by: 'sso', orgId: known.org_id },
  });
  const login = await entry.begin({
    by,
    device: undefined,
    provenAt: now,
    sso: { expiresAt: known.session_expires_at },
    also: [sso.mayLogIn(known), record],
  });
  if (!login) throw codeRefused();
  return { ...login, returnTo: known.return_to };
};

const codeRefused = (): Boom.Boom =>
  Boom.unauthorized('The login is expired, already used, or from another browser. Start it again');

const confirmationRequired = async (
  { sso }: SsoDeps,
  known: { org_id: string; user_id: string },
): Promise<Boom.Boom> => {
  const org = await sso.enabledById(known.org_id);
  const account = await sso.accountOf(known.user_id);
  return Boom.conflict(
    `The identity provider of ${org?.name} asks to log in this browser as ${account?.username}. Continue only if you started this login`,
    { code: 'confirmation_required' },
  );
};
