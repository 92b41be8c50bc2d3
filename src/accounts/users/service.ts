import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import type { Account, AccountChanges } from './contract.js';
import type { AccountRow, UsersStore } from './queries.js';

export interface UsersDeps {
  users: UsersStore;
  clock: Clock;
  /** Closes the open sockets of a session. `endUser` closes all sockets of a user. */
  endSession(sessionId: string): void;
  endUser(userId: string): void;
  /** Resolves when none of the user's agents runs any more. */
  stopAgents(userId: string): Promise<void>;
  accounts: {
    /**
     * Replies with 403 `password_required` later than ten minutes after login, and with 401 or 429
     * for a wrong password.
     */
    proveFresh(by: Caller, password?: string): Promise<void>;
  };
}

/**
 * Changes a user. A change that gives rights requires a recent login; to disable a user does not. A
 * disabled user is out before the reply: the sessions and tokens end with the change, then the
 * sockets and the agents. Nothing is deleted; hooks run again when the account is enabled.
 */
export const updateUser = async (
  deps: UsersDeps,
  { id, asked }: { id: string; asked: AccountChanges },
  by: Caller & Recorder,
): Promise<Account> => {
  const { password, ...changes } = asked;
  await findAccount(deps, id);
  if (changes.role || changes.permissions) await deps.accounts.proveFresh(by, password);
  const record = by.record({ target: id, data: { ...changes } });
  const at = iso(deps.clock.now());
  const ended = await deps.users.update(id, changes, { at, also: [record] });
  if (!ended) throw lastAdmin();
  for (const session of ended) deps.endSession(session);
  if (changes.disabled === true) {
    deps.endUser(id);
    await deps.stopAgents(id);
  }
  return viewUser(await findAccount(deps, id));
};

export const findAccount = async (
  { users }: Pick<UsersDeps, 'users'>,
  id: string,
): Promise<AccountRow> => {
  const row = await users.find(id);
  if (!row) throw Boom.notFound('No user with that id');
  return row;
};

const lastAdmin = (): Boom.Boom =>
  Boom.conflict('This is the last admin: make another one first', { code: 'last_admin' });

export const viewUser = (row: AccountRow): Account => {
  const limits: Partial<Account['limits']> = JSON.parse(row.limits);
  const permissions: Partial<Account['permissions']> = JSON.parse(row.permissions);
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    role: row.role,
    disabled: row.disabled_at !== null,
    disabledAt: row.disabled_at,
    limits: {
      dailyCostUsd: limits.dailyCostUsd ?? null,
      dailyTokens: limits.dailyTokens ?? null,
      dailySteps: limits.dailySteps ?? null,
    },
    permissions: { shell: permissions.shell ?? null, mcp: permissions.mcp ?? null },
    totpEnabled: row.totp === 1,
    passkeys: row.passkeys,
    createdAt: row.created_at,
  };
};
