import type { Context } from '../command.js';
import { unlessRefused } from '../exit.js';
import { reachNotes } from './reach.js';

/** Warnings about a link for somebody who may use another machine. */
export const NOT_REACHED =
  'It opens on this machine alone. For others: adjutant tunnel setup, then make it anew';

/** An address for senders, and what to know of it. */
interface PublicAddress {
  url: string;
  notes: string[];
}

/** The address at which senders reach the daemon: the public one, else the one that was asked. */
export const publicAddress = async (context: Context): Promise<PublicAddress> => {
  const client = await context.client();
  // A token for hooks alone may not know of the tunnel; a daemon before it has none.
  const found = await unlessRefused([403, 404], client.tunnel.address());
  if (!found || found.address === null) return { url: context.url, notes: [] };
  return { url: found.address, notes: reachNotes(found) };
};
