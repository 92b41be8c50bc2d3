import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { resource } from '../../kernel/route.js';
import { auth } from './contract.js';
import { changePassword, type PasswordDeps } from './password.js';
import { type RegisterDeps, registerUser } from './register.js';
import { logInWithPassword, userOf } from './service.js';
import type { Tickets } from './tickets.js';

interface TicketDeps {
  tickets: Pick<Tickets, 'issue'>;
}

export const authResource = (deps: RegisterDeps & PasswordDeps & TicketDeps) =>
  resource('auth', auth, {
    register: ({ body }, by) => registerUser(deps, body, by),
    login: ({ body }, by) => logInWithPassword(deps, body, by),
    logout: async (_input, by) => {
      await deps.users.endSession(by.sessionId, iso(deps.clock.now()));
      deps.endSession(by.sessionId);
    },
    password: ({ body }, by) => changePassword(deps, body, by),
    ticket: async (_input, by) => deps.tickets.issue(by),
    me: async (_input, by) => {
      const row = await deps.users.userById(by.userId);
      if (!row) throw Boom.unauthorized('Log in first');
      return { ...userOf(row), impersonatedBy: by.impersonator?.username ?? null };
    },
  });
