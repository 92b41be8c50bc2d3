import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { resource } from '../../kernel/route.js';
import { auth as contract } from './contract.js';
import { changePassword, type PasswordDeps } from './password.js';
import { type RegisterDeps, registerUser } from './register.js';
import { logInWithPassword, viewCurrentUser } from './service.js';
import type { Tickets } from './tickets.js';

interface AuthResourceDeps extends RegisterDeps {
  accounts: PasswordDeps['accounts'];
  tickets: Tickets;
  countTokens: PasswordDeps['countTokens'];
  endSession: PasswordDeps['endSession'];
}

export const authResource = (deps: AuthResourceDeps) => {
  const { auth, tickets, accounts, countTokens, endSession } = deps;
  const { users, passwords, clock, outbox } = auth;
  const changing = { users, passwords, clock, outbox, accounts, countTokens, endSession };
  return resource('auth', contract, {
    register: ({ body }, by) => registerUser(deps, body, by),
    login: ({ body }, by) => logInWithPassword(auth, body, by),
    logout: async (_input, by) => {
      await users.endSession(by.sessionId, iso(clock.now()));
      endSession(by.sessionId);
    },
    password: ({ body }, by) => changePassword(changing, body, by),
    ticket: async (_input, by) => tickets.issue(by),
    me: async (_input, by) => {
      const row = await users.userById(by.userId);
      if (!row) throw Boom.unauthorized('Log in first');
      return { ...viewCurrentUser(row), impersonatedBy: by.impersonator?.username ?? null };
    },
  });
};
