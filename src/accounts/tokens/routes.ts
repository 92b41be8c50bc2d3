import { DEFAULT_LIMIT } from '../../kernel/contract/page.js';
import { resource } from '../../kernel/route.js';
import { tokens } from './contract.js';
import { createToken, deleteToken, type TokensDeps, viewToken } from './service.js';

export const tokensResource = (deps: TokensDeps) =>
  resource('tokens', tokens, {
    list: async ({ query }, by) => {
      const page = { ...query, limit: query.limit ?? DEFAULT_LIMIT };
      const { rows, nextCursor } = await deps.tokens.list(by.userId, page);
      return { tokens: rows.map(viewToken), nextCursor };
    },
    create: ({ body }, by) => createToken(deps, body, by),
    delete: ({ id }, by) => deleteToken(deps, id, by),
  });
