import type { Context } from '../command.js';
import { nullIfRefused } from '../exit.js';
import { reachNotes } from './reach.js';

export const LOCAL_LINK_WARNING =
  'The link works only on this machine. For others: adjutant tunnel setup, then create it again';

interface PublicAddress {
  url: string;
  notes: string[];
}

/** The address at which senders reach the daemon: the public one, or else the requested one. */
export const publicAddress = async (context: Context): Promise<PublicAddress> => {
  const client = await context.client();
  // A token for hooks alone may not read the tunnel, and an older daemon has none.
  const found = await nullIfRefused([403, 404], client.tunnel.address());
  if (!found || found.address === null) return { url: context.url, notes: [] };
  return { url: found.address, notes: reachNotes(found) };
};
