import Boom from '@hapi/boom';
import type { VisitRecorder } from '../../kernel/audit.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Visit } from '../../kernel/endpoint.js';
import { mint } from '../../kernel/ids.js';
import { type Passwords, PasswordsBusy } from '../../kernel/password.js';
import type { Rate } from '../../kernel/rate.js';
import type { Signer } from '../../runtime/keys/signing.js';
import type { Step } from '../../store/protocol.js';
import type { Credentials, Login, User } from './contract.js';
import { backoffSeconds, type Exposure, keyOf } from './rules.js';
import type { AuthStore, FailureKey, KnownUser } from './store.js';

const DEVICE_MS = 30 * 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;
const ACCOUNT_DELAY_MS = 2000;
const ACCOUNT_FAILURES_BEFORE_DELAY = 10;

/** What let a login pass its second factor. */
type Verdict = 'not_needed' | 'right' | 'recovered';

/** What is said to a login without one, and its `code`. */
const CODE_REFUSED = {
  needed: ['A code of your authenticator app is needed: totpCode', 'totp_required'],
  wrong: ['The code is wrong, or was used before', 'wrong_code'],
  damaged: [
    'The secret of your authenticator app was damaged: a recovery code lets you in',
    'totp_damaged',
  ],
} as const;

export interface AuthDeps {
  users: AuthStore;
  passwords: Passwords;
  signer: Signer;
  clock: Clock;
  policy: { exposure(): Exposure; tokenHours: number };
  /** Whether a login needs a code of an authenticator app, and whether this one serves. */
  checkCode(userId: string, code: string | undefined): Promise<Verdict | keyof typeof CODE_REFUSED>;
  /** Tries of an account from an address, right or wrong. */
  tries: Rate;
  wait(ms: number): Promise<void>;
}

export const userOf = (row: KnownUser): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  role: row.role,
  totpEnabled: row.totp === 1,
  recoveryCodesLeft: row.recovery_codes,
  passkeys: row.passkeys,
  channels: row.channels,
  impersonatedBy: null,
  createdAt: row.created_at,
});

/**
 * Unknown name, wrong password and disabled account give the same answer in the same time. Ours:
 * what fails is counted, and no entry of the audit log: strangers would fill it.
 */
export const logIn = async (
  deps: AuthDeps,
  { username, email, password, totpCode, device }: Credentials,
  by: Visit & VisitRecorder,
): Promise<Login> => {
  const typed = keyOf(username ?? email ?? '').slice(0, 254);
  const row = await deps.users.userByKey(typed);
  // One count for an account, whichever of its names was typed.
  const key = { account: row?.username_key ?? typed, address: by.address };
  await refuseFlood(deps, key);
  const known = row?.password_hash ?? null;
  const isRight = await gated(() => deps.passwords.verify(known, password, by.address));
  if (!row || !isRight || row.disabled_at !== null) {
    await deps.users.addFailure(key, iso(deps.clock.now()));
    throw Boom.unauthorized('Wrong username or password');
  }
  const verdict = await checkSecondFactor(deps, { userId: row.id, code: totpCode, key });
  const data = { by: 'password', ...(verdict === 'recovered' && { recoveryCode: true }) };
  const also = [by.record({ actorId: row.id, data })];
  return beginSession(deps, row, { device, address: by.address, also });
};

const checkSecondFactor = async (
  deps: AuthDeps,
  { userId, code, key }: { userId: string; code: string | undefined; key: FailureKey },
): Promise<Verdict> => {
  const verdict = await deps.checkCode(userId, code);
  if (verdict === 'not_needed' || verdict === 'right' || verdict === 'recovered') return verdict;
  if (verdict !== 'needed') await deps.users.addFailure(key, iso(deps.clock.now()));
  const [message, reason] = CODE_REFUSED[verdict];
  throw new Boom.Boom(message, { statusCode: 401, data: { code: reason } });
};

/** Back-off is per account and address; the account alone costs a delay, never a refusal. */
export const refuseFlood = async (deps: AuthDeps, key: FailureKey): Promise<void> => {
  // What comes all at once is not counted as failed yet.
  const tries = deps.tries.take(`${key.address} ${key.account}`);
  if (tries?.isSpent) throw tooMany(tries.resetSeconds);
  const failed = await deps.users.failures(key);
  const now = deps.clock.now();
  if (failed) {
    const waitMs = Date.parse(failed.last_at) + backoffSeconds(failed.count) * 1000 - now;
    if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1000));
  }
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  if (all >= ACCOUNT_FAILURES_BEFORE_DELAY) await deps.wait(ACCOUNT_DELAY_MS);
};

const tooMany = (retryAfter: number): Boom.Boom =>
  Boom.tooManyRequests(`Too many wrong logins. Try again in ${retryAfter} s`, {
    code: 'too_many_logins',
    retryAfter,
  });

/** Where a login comes from, and what is written with its session or not at all. */
export interface Beginning {
  device: string | undefined;
  address: string;
  also: Step[];
}

export const beginSession = async (
  deps: AuthDeps,
  row: KnownUser,
  from: Beginning,
): Promise<Login> => {
  const now = deps.clock.now();
  const lifeMs = from.device === undefined ? deps.policy.tokenHours * HOUR_MS : DEVICE_MS;
  const expires = Math.floor((now + lifeMs) / 1000);
  const session = {
    id: mint('login', now),
    user_id: row.id,
    device: from.device ?? null,
    address: from.address,
    created_at: iso(now),
    expires_at: iso(expires * 1000),
  };
  const accounts = [row.username_key, row.email_key].filter((key) => key !== null);
  await deps.users.insertSession(session, { accounts, address: from.address }, from.also);
  const token = deps.signer.sign({
    userId: row.id,
    sessionId: session.id,
    issuedAt: Math.floor(now / 1000),
    expiresAt: expires,
  });
  return { user: userOf(row), token, expiresAt: session.expires_at };
};

export const gated = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PasswordsBusy)) throw error;
    throw Boom.tooManyRequests(error.message, { retryAfter: error.retryAfterSeconds });
  }
};
