import type { Client } from '../../src/client/index.js';
import type { Context } from '../context.js';
import { idOf } from '../resolve.js';

/** The id of a user from its name, or the end of its id. Failed: nobody is called so. */
export const findUser = async (
  context: Context,
  typed: string,
): Promise<{ client: Client; id: string }> => {
  const client = await context.client();
  const id = await idOf(typed, {
    noun: 'user',
    listed: 'users list',
    page: async (cursor) => {
      const page = await client.users.list({ query: { limit: 200, cursor } });
      const rows = page.users.map(({ id, username }) => ({ id, name: username }));
      return { rows, nextCursor: page.nextCursor };
    },
  });
  return { client, id };
};
