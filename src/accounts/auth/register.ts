import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { AuditRecorder } from '../../kernel/contract/audit.js';
import type { RequestContext } from '../../kernel/contract/endpoint.js';
import type { Login, User } from '../../kernel/contract/login.js';
import { mint } from '../../kernel/ids.js';
import type { Passwords } from '../../kernel/password.js';
import { badRequest } from '../../kernel/route.js';
import { type TransactionStep, UniqueViolation } from '../../store/engine/protocol.js';
import type { Registration } from './contract.js';
import { refuseWeakPassword } from './policy.js';
import type { AuthStore, NewUser } from './queries.js';
import { accountKey, mayRegister, nameFrom } from './rules.js';
import { type AuthDeps, beginSession, translatePasswordsBusy } from './service.js';
import type { KnownUser } from './sessions.js';
import { type SetupCode, setupCodeRefused } from './setupcode.js';

interface Invite {
  role: User['role'];
  /** Address that the account must have; null for any or none. */
  email: string | null;
  /** Commits the steps and uses up the invite. Throws 403 if another request used it first. */
  spend(steps: TransactionStep[]): Promise<void>;
}

export interface RegisterDeps {
  auth: AuthDeps;
  setup: SetupCode;
  /** Throws 403 if the invite is not valid, and 429 after too many such attempts. */
  openInvite(token: string, by: RequestContext): Promise<Invite>;
}

const REFUSALS = {
  setup_code_required:
    'The first account requires the setup code of this start, stored in the file setup-code in the home of the daemon. Run: adjutant register --setup-code-file <home>/setup-code',
  invite_required: 'Registration requires an invite. Ask an admin for one',
  local_only:
    'Registration is allowed only on the machine of the daemon. Run adjutant register there, or ask an admin for an invite',
  registration_closed: 'Registration is closed. Ask an admin',
};

/**
 * An invite is accepted under `local` and `invite`, but not under `closed`. If there is a setup code,
 * it is required for the first account, whatever the setting, and accepted for no other account.
 */
export const registerUser = async (
  deps: RegisterDeps,
  registration: Registration,
  by: RequestContext & AuditRecorder,
): Promise<Login> => {
  const { auth } = deps;
  const { users, passwords, clock } = auth;
  const { setupCode, device } = registration;
  const also = ({ id, username }: NewUser): TransactionStep[] => [
    by.record({ actorId: id, target: id, data: { username } }),
  ];
  const making = { users, passwords, clock, also };
  const row =
    setupCode === undefined
      ? await insertAllowed(deps, making, registration, by)
      : await insertFirst(deps, making, registration);
  const login = await beginSession(auth, row, { device, by, isRegistration: true, also: [] });
  if (!login)
    throw Boom.unauthorized(
      'The account was created, but was changed before the login. Log in with your username and password',
    );
  return login;
};

const insertAllowed = async (
  { auth, setup, openInvite }: RegisterDeps,
  making: AccountCreation,
  registration: Registration,
  by: RequestContext,
): Promise<KnownUser> => {
  const { inviteToken } = registration;
  if (setup.shown() !== null) throw refusal('setup_code_required');
  const verdict = mayRegister(auth.policy.exposure(), by.isLocal);
  if (inviteToken !== undefined && verdict !== 'registration_closed') {
    return insertInvited(making, registration, await openInvite(inviteToken, by));
  }
  if (verdict === 'yes') return insertUser(making, registration);
  throw refusal(verdict);
};

const refusal = (code: keyof typeof REFUSALS): Boom.Boom =>
  Boom.forbidden(REFUSALS[code], { code });

/** Only one of two concurrent requests succeeds. Only success uses up the code. */
const insertFirst = async (
  { setup }: RegisterDeps,
  making: AccountCreation,
  registration: Registration,
): Promise<KnownUser> => {
  setup.check(registration.setupCode ?? '');
  const row = await make(making, registration, (user) =>
    making.users.insertFirst(user, making.also(user)),
  );
  if (!row) throw setupCodeRefused();
  setup.end();
  return row;
};

type NewAccount = Pick<Registration, 'username' | 'email' | 'password'>;
interface AccountCreation {
  users: AuthStore;
  passwords: Passwords;
  clock: Clock;
  /** Returns the steps that are committed with the account or not at all. */
  also(row: NewUser): TransactionStep[];
}

/** The first account becomes the admin. */
export const insertUser = (deps: AccountCreation, account: NewAccount): Promise<KnownUser> =>
  make(deps, account, (row) => deps.users.insertUser(row, deps.also(row)));

const insertInvited = (
  deps: AccountCreation,
  account: NewAccount,
  { role, email, spend }: Invite,
): Promise<KnownUser> => {
  if (email !== null && accountKey(account.email ?? email) !== accountKey(email))
    throw notInvited();
  const bound = { ...account, email: email ?? account.email };
  return make(deps, bound, (row) =>
    deps.users.insertInvited(row, role, (steps) => spend([...steps, ...deps.also(row)])),
  );
};

/** A name that is derived from an e-mail address gets a number until it is free. */
const make = async <T>(
  { users, passwords, clock }: AccountCreation,
  { username, email, password }: NewAccount,
  insert: (row: NewUser) => Promise<T>,
): Promise<T> => {
  await refuseWeakPassword({ password, names: [username, email] });
  const passwordHash = await translatePasswordsBusy(() => passwords.hash(password));
  const wanted = username ?? nameFrom(email ?? '');
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}-${n}`;
    const mayNumber = username === undefined && n < 100;
    const skeleton = await computeNameSkeleton(name);
    try {
      await refuseOlderLookalike(users, skeleton);
      return await insert({
        id: mint('user', clock.now()),
        username: name,
        username_key: accountKey(name),
        username_skeleton: skeleton,
        email: email ?? null,
        email_key: email === undefined ? null : accountKey(email),
        password_hash: passwordHash,
        created_at: iso(clock.now()),
      });
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      const isEmail = error.message.includes('email_key');
      if (!isEmail && mayNumber) continue;
      throw isEmail ? taken('email') : await nameTaken(users, name);
    }
  }
};

const nameTaken = async (users: AccountCreation['users'], name: string): Promise<Boom.Boom> =>
  (await users.userByKey(accountKey(name))) ? taken('username') : lookalike();

const OLDER_AT_ONCE = 500;

/** Throws Taken if an account without a stored skeleton has a name that looks alike. */
const refuseOlderLookalike = async (
  users: AccountCreation['users'],
  skeleton: string,
): Promise<void> => {
  for (let after = ''; ; ) {
    const older = await users.olderNames(after, OLDER_AT_ONCE);
    for (const each of older) {
      if ((await computeNameSkeleton(each)) === skeleton)
        throw new UniqueViolation('users.username_skeleton');
    }
    if (older.length < OLDER_AT_ONCE) return;
    after = older.at(-1) ?? after;
  }
};

/** The message does not show the other name, which the caller could look up otherwise. */
const lookalike = (): Boom.Boom =>
  Boom.conflict('That username looks like an existing one. Choose another', {
    code: 'username_confusable',
    details: [{ path: 'username', message: 'looks like an existing username' }],
  });

const taken = (field: 'username' | 'email'): Boom.Boom =>
  Boom.conflict(`This ${field} is already in use. Choose another ${field}`, {
    code: `${field}_taken`,
    details: [{ path: field, message: 'is already in use' }],
  });

const notInvited = (): Boom.Boom =>
  badRequest([{ path: 'email', message: 'is not the address of the invite' }]);

const library = () => import('unhomoglyph');

/**
 * Returns the skeleton that names share if they look alike (UTS 39, section 4), ignoring case:
 * `paypal` and `PaypaI`.
 */
export const computeNameSkeleton = async (name: string): Promise<string> => {
  const { default: replaced } = await library();
  return replaced(name.normalize('NFKC').normalize('NFD'))
    .normalize('NFD')
    .replace(/\p{DI}/gu, '')
    .toLowerCase();
};
