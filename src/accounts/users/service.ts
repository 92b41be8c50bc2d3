import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { badRequest, orNotFound } from '../../kernel/route.js';
import { userTable } from '../../store/tables/accounts.js';
import { viewer } from '../../store/view.js';
import type { AccountOperations } from '../auth/account.js';
import { Account, type AccountChanges } from './contract.js';
import type { AccountRow, UsersStore } from './queries.js';

/** The dependencies of every operation on another user's account. */
export interface AccountDeps {
  users: UsersStore;
  clock: Clock;
  accounts: AccountOperations;
}

export interface UsersDeps extends AccountDeps {
  /** Closes the open sockets of a session. `endUser` closes all sockets of a user. */
  endSession(sessionId: string): void;
  endUser(userId: string): void;
  /** Resolves when no agent and no pipeline of the user runs any more. */
  stopWork(userId: string): Promise<void>;
}

/**
 * Changes a user. A change that gives rights requires a recent login; to disable a user does not. A
 * disabled user is out before the reply: the sessions and tokens end with the change, then the
 * sockets, the pipelines and the agents. Nothing is deleted; hooks run again when the account is enabled.
 */
export const updateUser = async (
  deps: UsersDeps,
  { id, asked }: { id: string; asked: AccountChanges },
  by: Caller & Recorder,
): Promise<Account> => {
  const { password, ...changes } = asked;
  if (Object.keys(changes).length === 0) throw nothingToChange(password !== undefined);
  await findAccount(deps, id);
  if (changes.role || changes.permissions) await deps.accounts.proveFresh(by, password);
  const record = by.record({ target: id, data: { ...changes } });
  const at = iso(deps.clock.now());
  const ended = await deps.users.update(id, changes, { at, also: [record] });
  if (!ended) throw lastAdmin();
  for (const session of ended) deps.endSession(session);
  if (changes.disabled === true) {
    deps.endUser(id);
    await deps.stopWork(id);
  }
  return viewUser(await findAccount(deps, id));
};

export const findAccount = async (
  { users }: { users: UsersStore },
  id: string,
): Promise<AccountRow> => {
  return orNotFound(await users.find(id), 'No user with that id');
};

/** The password of a call is that of the admin, which proves a change of rights. */
const nothingToChange = (hasPassword: boolean): Boom.Boom =>
  badRequest([
    hasPassword
      ? {
          path: 'password',
          message:
            'is your own, for a change of role or permissions; a user sets a new one with the link of POST /api/admin/users/{id}/invite',
        }
      : { path: 'role', message: 'or limits, permissions or disabled is required' },
  ]);

const lastAdmin = (): Boom.Boom =>
  Boom.conflict('This is the last admin: make another one first', { code: 'last_admin' });

const NO_LIMITS = { dailyCostUsd: null, dailyTokens: null, dailySteps: null };
const NO_PERMISSIONS = { shell: null, mcp: null, index: null, email: null };

export const viewUser = viewer(userTable, Account, {
  disabled: (row: AccountRow) => row.disabled_at !== null,
  limits: (row) => ({ ...NO_LIMITS, ...JSON.parse(row.limits) }),
  permissions: (row) => ({ ...NO_PERMISSIONS, ...JSON.parse(row.permissions) }),
  totpEnabled: (row) => row.totp === 1,
  passkeys: (row) => row.passkeys,
});
