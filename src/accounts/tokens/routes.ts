import { resource } from '../../kernel/route.js';
import { tokens } from './contract.js';
import { createToken, deleteToken, type TokensDeps, viewToken } from './service.js';

export const tokensResource = (deps: TokensDeps) =>
  resource('tokens', tokens, {
    list: async ({ query }, by) => {
      const { rows, nextCursor } = await deps.tokens.list(by.userId, query);
      return { tokens: rows.map(viewToken), nextCursor };
    },
    create: ({ body }, by) => createToken(deps, body, by),
    delete: ({ id }, by) => deleteToken(deps, id, by),
  });
