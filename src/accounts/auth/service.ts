import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import { type Login, User } from '../../kernel/contract/login.js';
import { QueueFull } from '../../kernel/fairqueue.js';
import { mint } from '../../kernel/ids.js';
import { type Passwords, PasswordsBusy } from '../../kernel/password.js';
import type { Outbox } from '../../outbound/module.js';
import type { Signer } from '../../secrets/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { userTable } from '../../store/tables/accounts.js';
import { viewer } from '../../store/view.js';
import type { Credentials } from './contract.js';
import {
  addFailure,
  type FloodDeps,
  failureSource,
  passwordQueueKey,
  refuseFlood,
  tooManyLogins,
} from './flood.js';
import { notifyNewDevice, type Origin, recognizeDevice, rememberDevice } from './newdevice.js';
import type { AuthStore, FailureKey } from './queries.js';
import { accountKey, type Exposure } from './rules.js';
import type { KnownUser } from './sessions.js';

const DEVICE_MS = 30 * 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;
/** Pause between two logins to one account behind a shared address, and logins that may wait. */
export const LOGIN_PAUSE_MS = 2000;
export const MAX_WAITING_LOGINS = 5;
/**
 * Minimum duration of a failed login behind a shared address, also for unknown names. Such logins are
 * not refused, so a client that sends many of them must wait for each.
 */
const WRONG_MS = 1000;

type SecondFactorResult = 'not_needed' | 'right' | 'recovered';

/** Message and `code`. */
const CODE_REFUSED = {
  needed: [
    'A code of your authenticator app is required. Send the code as totpCode',
    'totp_required',
  ],
  wrong: ['The code is wrong or was already used', 'wrong_code'],
  damaged: [
    'The secret of your authenticator app is damaged. Log in with a recovery code',
    'totp_damaged',
  ],
} as const;

export interface AuthDeps extends FloodDeps {
  users: AuthStore;
  passwords: Passwords;
  signer: Pick<Signer, 'sign'>;
  clock: Clock;
  policy: { exposure(): Exposure; tokenHours: number };
  /**
   * `device` is the digest of a valid device token. Throws 429 `too_many_codes` after too many wrong
   * codes.
   */
  checkCode(
    userId: string,
    code: string | undefined,
    device: string | null,
  ): Promise<SecondFactorResult | keyof typeof CODE_REFUSED>;
  outbox: Outbox;
}

export const viewCurrentUser = viewer(userTable, User, {
  totpEnabled: (row: KnownUser) => row.factor !== null,
  recoveryCodesLeft: (row) => row.recovery_codes,
  passkeys: (row) => row.passkeys,
  channels: (row) => row.channels,
  impersonatedBy: () => null,
});

/**
 * Unknown name, wrong password and disabled account give the same reply in the same time. A failure is
 * counted but not written to the audit log, which unauthenticated clients could fill.
 */
export const logInWithPassword = async (
  deps: AuthDeps,
  credentials: Credentials,
  by: RequestContext & AuditRecorder,
): Promise<Login> => {
  const typed = accountKey(credentials.username ?? credentials.email ?? '').slice(0, 254);
  const row = await deps.users.userByKey(typed);
  const device = await recognizeDevice(deps, row?.id, credentials.deviceToken);
  // Username and e-mail address share one counter.
  const key = { account: row?.username_key ?? typed, address: failureSource(by, device) };
  if (device !== null || !by.isShared) return judge(deps, { credentials, typed, key, device }, by);
  return paced(deps, key.account, () => judge(deps, { credentials, typed, key, device }, by));
};

/** Clients behind a shared address cannot be told apart: an account has one attempt in 2 s there. */
const paced = async <T>({ limits }: AuthDeps, account: string, work: () => Promise<T>) => {
  try {
    return await limits.pace.take(account, work);
  } catch (error) {
    if (!(error instanceof QueueFull)) throw error;
    throw tooManyLogins(((MAX_WAITING_LOGINS + 1) * LOGIN_PAUSE_MS) / 1000);
  }
};

interface LoginRequest {
  credentials: Credentials;
  typed: string;
  key: FailureKey;
  /** Digest of a valid device token. */
  device: string | null;
}

const judge = async (
  deps: AuthDeps,
  { credentials, typed, key, device }: LoginRequest,
  by: RequestContext & AuditRecorder,
): Promise<Login> => {
  const leastTime = deps.limits.wait(WRONG_MS);
  await refuseFlood(deps, key);
  const row = await deps.users.userByKey(typed);
  const known = row?.password_hash ?? null;
  const asker = passwordQueueKey(key, device);
  const isKnown = device !== null;
  const isRight = await translatePasswordsBusy(() =>
    deps.passwords.verify(known, credentials.password, asker, { isKnown }),
  );
  if (!row || !isRight || row.disabled_at !== null) {
    await addFailure(deps, key, row?.id ?? null);
    if (by.isShared && !isKnown) await leastTime;
    throw wrongLogin();
  }
  const verdict = await checkSecondFactor(deps, { row, code: credentials.totpCode, key, device });
  const data = { by: 'password', ...(verdict === 'recovered' && { recoveryCode: true }) };
  const login = await beginSession(deps, row, {
    by,
    device: credentials.device,
    deviceToken: credentials.deviceToken,
    also: [by.record({ actorId: row.id, data })],
  });
  if (!login) throw wrongLogin();
  return login;
};

const wrongLogin = (): Boom.Boom => Boom.unauthorized('Wrong username or password');

const checkSecondFactor = async (
  deps: AuthDeps,
  of: { row: KnownUser; code: string | undefined; key: FailureKey; device: string | null },
): Promise<SecondFactorResult> => {
  const { row, code, key, device } = of;
  const verdict = await deps.checkCode(row.id, code, device);
  if (verdict === 'not_needed' || verdict === 'right' || verdict === 'recovered') return verdict;
  // Behind a shared address, a known device has its own counter of codes.
  const isCounted =
    verdict !== 'needed' && (device === null || key.address !== passwordQueueKey(key, device));
  if (isCounted) await addFailure(deps, key, row.id);
  const [message, reason] = CODE_REFUSED[verdict];
  throw new Boom.Boom(message, { statusCode: 401, data: { code: reason } });
};

export interface SessionStart {
  by: Origin;
  /** Name of the device. A session with a name lasts 30 days. */
  device: string | undefined;
  deviceToken?: string | undefined;
  isRegistration?: boolean;
  /**
   * Time at which the user authenticated, if that was earlier: ISO 8601. The device is remembered
   * only if it is absent, that is, if this login required all factors.
   */
  provenAt?: string;
  /** Present if the identity provider of the organization authenticated the user. */
  sso?: { expiresAt: string } | undefined;
  /** Committed with the session. */
  also: TransactionStep[];
}

/**
 * Returns null if the account has changed since it was read, or a step of `also` was not met. Throws
 * 403 `sso_required` if the organization of the user requires single sign-on.
 */
export const beginSession = async (
  deps: AuthDeps,
  row: KnownUser,
  from: SessionStart,
): Promise<Login | null> => {
  const { by } = from;
  if (row.sso_required === 1 && !from.sso) throw ssoRequired();
  const known = await recognizeDevice(deps, row.id, from.deviceToken);
  const remembered =
    from.provenAt === undefined
      ? rememberDevice(deps, row.id, known === null ? null : (from.deviceToken ?? null))
      : null;
  const isRegistration = from.isRegistration ?? false;
  const arrival =
    known === null ? await notifyNewDevice(deps, { userId: row.id, by, isRegistration }) : null;
  const session = sessionFrom(deps, row, from);
  const accounts = [row.username_key, row.email_key].filter((key) => key !== null);
  const isBegun = await deps.users.insertSession(session, {
    basis: row,
    failures: { accounts, address: failureSource(by, known) },
    also: [...from.also, ...(remembered?.steps ?? []), ...(arrival?.steps ?? [])],
  });
  if (!isBegun) return null;
  arrival?.published();
  const issuedAt = Math.floor(deps.clock.now() / 1000);
  const expiresAt = Date.parse(session.expires_at) / 1000;
  const token = deps.signer.sign({ userId: row.id, sessionId: session.id, issuedAt, expiresAt });
  const deviceToken = remembered && { deviceToken: remembered.deviceToken };
  return { user: viewCurrentUser(row), token, expiresAt: session.expires_at, ...deviceToken };
};

const ssoRequired = (): Boom.Boom =>
  Boom.forbidden('Your organization requires single sign-on. Log in with single sign-on', {
    code: 'sso_required',
  });

/**
 * A session ends at most 30 days after the user authenticated, and with the session at the identity
 * provider. Such a session is never one of a device.
 */
const sessionFrom = ({ clock, policy }: AuthDeps, row: KnownUser, from: SessionStart) => {
  const now = clock.now();
  const { device = null, sso } = from;
  const isShort = device === null || sso !== undefined;
  const lifeMs = isShort ? policy.tokenHours * HOUR_MS : DEVICE_MS;
  const provenAt = from.provenAt === undefined ? now : Date.parse(from.provenAt);
  const latest = sso ? Date.parse(sso.expiresAt) : provenAt + DEVICE_MS;
  const expires = Math.floor(Math.min(now + lifeMs, latest) / 1000);
  return {
    id: mint('login', now),
    user_id: row.id,
    device: sso ? null : device,
    address: from.by.address,
    created_at: iso(now),
    proven_at: from.provenAt ?? null,
    expires_at: iso(expires * 1000),
    sso_expires_at: sso?.expiresAt ?? null,
  };
};

export const translatePasswordsBusy = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PasswordsBusy)) throw error;
    throw Boom.tooManyRequests(error.message, { retryAfter: error.retryAfterSeconds });
  }
};
