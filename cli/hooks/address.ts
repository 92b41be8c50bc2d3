import { ApiError } from '../../src/client/errors.js';
import type { Context } from '../context.js';

/** Where senders reach the daemon: its public address, else where it was asked. */
export const publicAddress = async (context: Context): Promise<string> => {
  try {
    const { address } = await (await context.client()).tunnel.address();
    return address ?? context.url;
  } catch (error) {
    // A token for hooks alone may not know of the tunnel; a daemon before it has none.
    if (error instanceof ApiError && [403, 404].includes(error.statusCode)) return context.url;
    throw error;
  }
};
