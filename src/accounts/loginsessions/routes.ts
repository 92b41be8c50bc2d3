import { iso } from '../../kernel/clock.js';
import { resource } from '../../kernel/route.js';
import { logins } from './contract.js';
import { endLoginSession, type LoginsDeps, refresh, viewLogin } from './service.js';

export const loginsResource = (deps: LoginsDeps) =>
  resource('logins', logins, {
    list: async ({ query }, by) => {
      const now = iso(deps.clock.now());
      const { rows, nextCursor } = await deps.logins.list(by.userId, query, now);
      return {
        sessions: rows.map((row) => viewLogin({ ...row, current: row.id === by.sessionId })),
        nextCursor,
      };
    },
    delete: ({ id }, by) => endLoginSession(deps, id, by),
    refresh: (_input, by) => refresh(deps, by),
  });
