import { surroundings } from '../../src/client/session.js';
import { homeOf } from './environment.js';
import { runningDaemon } from './record.js';

/** Whether an address is one of this machine's own. */
export const isHere = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/** The flags that choose a daemon. */
interface DaemonFlags {
  server?: string;
  home?: string;
}

/**
 * Where a command asks: at `--server`; at the daemon that runs in the background of `--home`; at
 * ADJUTANT_URL; at the one that runs in the background of the usual home; at the usual address.
 */
export const addressOf = ({ server, home }: DaemonFlags): string => {
  if (server !== undefined) return server;
  const { url, isUrlGiven } = surroundings();
  const found = home === undefined && isUrlGiven ? null : runningDaemon(homeOf(home));
  return found?.url ?? url;
};
