import Boom from '@hapi/boom';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import type { Caller } from '../../kernel/contract/endpoint.js';
import { pageLink } from '../../kernel/pagepath.js';
import type { Passwords } from '../../kernel/password.js';
import { badRequest } from '../../kernel/route.js';
import type { Outbox } from '../../outbound/module.js';
import type { AccountOperations } from './account.js';
import { refuseWeakPassword } from './policy.js';
import type { AuthStore } from './queries.js';
import { translatePasswordsBusy } from './service.js';

export interface PasswordDeps {
  users: AuthStore;
  passwords: Passwords;
  clock: Clock;
  accounts: AccountOperations;
  outbox: Outbox;
  countTokens(userId: string, now: string): Promise<number>;
  endSession(sessionId: string): void;
}

/**
 * Ends the user's other sessions and keeps this one. Personal access tokens stay valid, since the user
 * gave them to programs on purpose.
 */
export const changePassword = async (
  deps: PasswordDeps,
  { current, next }: { current?: string; next: string },
  by: Caller & Recorder,
): Promise<{ sessionsEnded: number; tokensLeft: number }> => {
  const { users, passwords, clock } = deps;
  const user = await users.userById(by.userId);
  const from = user?.password_hash ?? '';
  if (current === undefined && from !== '') throw missing();
  await deps.accounts.proveFresh(by, current);
  await refuseWeakPassword({ password: next, names: [user?.username, user?.email] }, 'next');
  const to = await translatePasswordsBusy(() => passwords.hash(next));
  const message = deps.outbox.toOwner(by.userId, {
    kind: 'password.changed',
    title: 'The password of your account was changed',
    body: 'Your other logins have ended. If this was not you, ask an admin for a reset link.',
    link: pageLink('device'),
  });
  const at = iso(clock.now());
  const { userId, sessionId } = by;
  const steps = [...message.statements, users.forgetDevices(userId), by.record({ target: userId })];
  const ended = await users.changePassword({ userId, sessionId, from, to, at }, steps);
  if (!ended) throw Boom.conflict('The password was changed by another request. Try again');
  message.published();
  for (const id of ended) deps.endSession(id);
  return { sessionsEnded: ended.length, tokensLeft: await deps.countTokens(userId, at) };
};

const missing = (): Boom.Boom => badRequest([{ path: 'current', message: 'is missing' }]);
