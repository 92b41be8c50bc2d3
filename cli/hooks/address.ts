import { ApiError } from '../../src/client/errors.js';
import type { Context } from '../context.js';
import { reachNotes } from '../tunnel/reach.js';

/** An address for senders, and what to know of it. */
interface PublicAddress {
  url: string;
  notes: string[];
}

/** The address at which senders reach the daemon: the public one, else the one that was asked. */
export const publicAddress = async (context: Context): Promise<PublicAddress> => {
  const here = { url: context.url, notes: [] };
  try {
    const { address, reach } = await (await context.client()).tunnel.address();
    return address === null ? here : { url: address, notes: reachNotes(reach) };
  } catch (error) {
    // A token for hooks alone may not know of the tunnel; a daemon before it has none.
    if (error instanceof ApiError && [403, 404].includes(error.statusCode)) return here;
    throw error;
  }
};
