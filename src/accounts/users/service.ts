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

export interface AccountDeps {
  users: UsersStore;
  clock: Clock;
  accounts: AccountOperations;
}

export interface UsersDeps extends AccountDeps {
  endSession(sessionId: string): void;
  endUser(userId: string): void;
  /** Resolves when no agent and no pipeline of the user runs any more. */
  stopWork(userId: string): Promise<void>;
}

/**
 * A change that gives rights requires a recent login; disabling does not. Everything of a disabled user
 * has ended before the reply. Nothing is deleted, and hooks run again once the account is enabled.
 */
export const updateUser = async (
  deps: UsersDeps,
  { id, changes: input }: { id: string; changes: AccountChanges },
  by: Caller & Recorder,
): Promise<Account> => {
  const { password, ...changes } = input;
  if (Object.keys(changes).length === 0) throw nothingToChange(password !== undefined);
  await findAccount(deps, id);
  if (changes.role || changes.permissions) await deps.accounts.proveFresh(by, password);
  const record = by.record({ target: id, data: { ...changes } });
  const at = iso(deps.clock.now());
  const also = changes.disabled === undefined ? [] : [deps.users.dropIdpDisable(id)];
  const ended = await deps.users.update(id, changes, { at, also: [...also, record] });
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

/** The password in the request is that of the admin. */
const nothingToChange = (hasPassword: boolean): Boom.Boom =>
  badRequest([
    hasPassword
      ? {
          path: 'password',
          message:
            'is your own password, which a change of role or permissions requires. To reset the password of a user: POST /api/admin/users/{id}/invite',
        }
      : { path: 'role', message: 'is required, or limits, permissions or disabled' },
  ]);

const lastAdmin = (): Boom.Boom =>
  Boom.conflict('This is the last admin. Create another admin first', { code: 'last_admin' });

const NO_LIMITS = { dailyCostUsd: null, dailyTokens: null, dailySteps: null };
const NO_PERMISSIONS = { shell: null, mcp: null, index: null, email: null };

export const viewUser = viewer(userTable, Account, {
  disabled: (row: AccountRow) => row.disabled_at !== null,
  limits: (row) => ({ ...NO_LIMITS, ...JSON.parse(row.limits) }),
  permissions: (row) => ({ ...NO_PERMISSIONS, ...JSON.parse(row.permissions) }),
  totpEnabled: (row) => row.totp === 1,
  passkeys: (row) => row.passkeys,
});
