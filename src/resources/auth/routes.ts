import Boom from '@hapi/boom';
import { iso } from '../../kernel/clock.js';
import { resource } from '../../kernel/route.js';
import { auth } from './contract.js';
import { type AuthDeps, logIn, registerUser, userOf } from './service.js';

export interface AuthRoutesDeps extends AuthDeps {
  /** Closes the open sockets of a session. */
  endSession(sessionId: string): void;
}

export const authResource = (deps: AuthRoutesDeps) =>
  resource('auth', auth, {
    register: ({ body }, by) => registerUser(deps, body, by),
    login: ({ body }, by) => logIn(deps, body, by),
    logout: async (_input, by) => {
      await deps.users.endSession(by.sessionId, iso(deps.clock.now()));
      deps.endSession(by.sessionId);
    },
    me: async (_input, by) => {
      const row = await deps.users.userById(by.userId);
      if (!row) throw Boom.unauthorized('Log in first');
      return userOf(row);
    },
  });
