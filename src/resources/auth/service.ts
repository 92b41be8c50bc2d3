import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Visit } from '../../kernel/endpoint.js';
import { mint } from '../../kernel/ids.js';
import { type Passwords, PasswordsBusy } from '../../kernel/password.js';
import type { Signer } from '../../runtime/keys/signing.js';
import { Taken } from '../../store/protocol.js';
import type { Credentials, Login, Registration, User } from './contract.js';
import { backoffSeconds, type Exposure, keyOf, mayRegister, nameFrom } from './rules.js';
import type { AuthStore, FailureKey, KnownUser } from './store.js';

const DEVICE_MS = 30 * 24 * 3600 * 1000;
const HOUR_MS = 3600 * 1000;
const ACCOUNT_DELAY_MS = 2000;
const ACCOUNT_FAILURES_BEFORE_DELAY = 10;

export interface AuthDeps {
  users: AuthStore;
  passwords: Passwords;
  signer: Signer;
  clock: Clock;
  policy: Exposure & { tokenHours: number };
  /** Whether a login needs a code of an authenticator app, and whether this one serves. */
  checkCode(
    userId: string,
    code: string | undefined,
  ): Promise<'not_needed' | 'needed' | 'right' | 'wrong'>;
  wait(ms: number): Promise<void>;
}

const REFUSALS = {
  invite_required: 'Registration needs an invite. Ask an admin for one',
  local_only:
    'Registration is open on the machine of the daemon only. There: adjutant register. Or ask an admin for an invite',
  registration_closed: 'Registration is closed. Ask an admin',
};

export const userOf = (row: KnownUser): User => ({
  id: row.id,
  username: row.username,
  email: row.email,
  role: row.role,
  totpEnabled: row.totp === 1,
  passkeys: row.passkeys,
  channels: 0,
  impersonatedBy: null,
  createdAt: row.created_at,
});

export const registerUser = async (
  deps: AuthDeps,
  registration: Registration,
  by: Visit,
): Promise<Login> => {
  const verdict = mayRegister(deps.policy, by.isLocal);
  if (verdict !== 'yes') throw Boom.forbidden(REFUSALS[verdict], { code: verdict });
  const row = await insertUser(deps, registration);
  return beginSession(deps, row, { device: registration.device, address: by.address });
};

/** Makes the account; a name made from an e-mail address is numbered until it is free. */
export const insertUser = async (
  deps: Pick<AuthDeps, 'users' | 'passwords' | 'clock'>,
  { username, email, password }: Pick<Registration, 'username' | 'email' | 'password'>,
): Promise<KnownUser> => {
  const passwordHash = await gated(() => deps.passwords.hash(password));
  const wanted = username ?? nameFrom(email ?? '');
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    try {
      return await deps.users.insertUser({
        id: mint('user', deps.clock.now()),
        username: name,
        username_key: keyOf(name),
        email: email ?? null,
        email_key: email === undefined ? null : keyOf(email),
        password_hash: passwordHash,
        created_at: iso(deps.clock.now()),
      });
    } catch (error) {
      if (!(error instanceof Taken)) throw error;
      const isName = error.message.includes('username_key');
      if (isName && username === undefined && n < 100) continue;
      throw taken(isName ? 'username' : 'email');
    }
  }
};

const taken = (field: 'username' | 'email'): Boom.Boom =>
  Boom.conflict(`That ${field} is taken`, {
    code: `${field}_taken`,
    details: [{ path: field, message: 'is taken' }],
  });

/** Unknown name, wrong password and disabled account give the same answer in the same time. */
export const logIn = async (
  deps: AuthDeps,
  { username, email, password, totpCode, device }: Credentials,
  by: Visit,
): Promise<Login> => {
  const typed = keyOf(username ?? email ?? '').slice(0, 254);
  const row = await deps.users.userByKey(typed);
  // One count for an account, whichever of its names was typed.
  const key = { account: row?.username_key ?? typed, address: by.address };
  await refuseFlood(deps, key);
  const isRight = await gated(() => deps.passwords.verify(row?.password_hash ?? null, password));
  if (!row || !isRight || row.disabled_at !== null) {
    await deps.users.addFailure(key, iso(deps.clock.now()));
    throw Boom.unauthorized('Wrong username or password');
  }
  await checkSecondFactor(deps, { userId: row.id, code: totpCode, key });
  return beginSession(deps, row, { device, address: by.address });
};

const checkSecondFactor = async (
  deps: AuthDeps,
  { userId, code, key }: { userId: string; code: string | undefined; key: FailureKey },
): Promise<void> => {
  const verdict = await deps.checkCode(userId, code);
  if (verdict === 'not_needed' || verdict === 'right') return;
  if (verdict === 'wrong') await deps.users.addFailure(key, iso(deps.clock.now()));
  const [message, reason] =
    verdict === 'needed'
      ? ['A code of your authenticator app is needed: totpCode', 'totp_required']
      : ['The code is wrong, or was used before', 'wrong_code'];
  throw new Boom.Boom(message, { statusCode: 401, data: { code: reason } });
};

/** Back-off is per account and address; the account alone costs a delay, never a refusal. */
export const refuseFlood = async (deps: AuthDeps, key: FailureKey): Promise<void> => {
  const failed = await deps.users.failures(key);
  const now = deps.clock.now();
  if (failed) {
    const waitMs = Date.parse(failed.last_at) + backoffSeconds(failed.count) * 1000 - now;
    if (waitMs > 0) {
      const retryAfter = Math.ceil(waitMs / 1000);
      throw Boom.tooManyRequests(`Too many wrong logins. Try again in ${retryAfter} s`, {
        code: 'too_many_logins',
        retryAfter,
      });
    }
  }
  const all = await deps.users.failuresOfAccount(key.account, iso(now - HOUR_MS));
  if (all >= ACCOUNT_FAILURES_BEFORE_DELAY) await deps.wait(ACCOUNT_DELAY_MS);
};

export const beginSession = async (
  deps: AuthDeps,
  row: KnownUser,
  from: { device: string | undefined; address: string },
): Promise<Login> => {
  const now = deps.clock.now();
  const lifeMs = from.device === undefined ? deps.policy.tokenHours * HOUR_MS : DEVICE_MS;
  const expires = Math.floor((now + lifeMs) / 1000);
  const session = {
    id: mint('login', now),
    user_id: row.id,
    device: from.device ?? null,
    created_at: iso(now),
    expires_at: iso(expires * 1000),
  };
  const accounts = [row.username_key, row.email_key].filter((key) => key !== null);
  await deps.users.insertSession(session, { accounts, address: from.address });
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
