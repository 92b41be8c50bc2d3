import { surroundings } from '../../src/client/session.js';
import { homeOf } from './environment.js';
import { runningDaemon } from './record.js';

/** True for an address of this machine. */
export const isHere = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/** The flags that choose a daemon. */
interface DaemonFlags {
  server?: string;
  home?: string;
}

/**
 * The address that a command asks, the first that is given: `--server`; that of the daemon in the
 * background of `--home`; ADJUTANT_URL; that of the daemon in the background of the usual home; the
 * usual address.
 */
export const addressOf = ({ server, home }: DaemonFlags): string => {
  if (server !== undefined) return server;
  const { url, isUrlGiven } = surroundings();
  const found = home === undefined && isUrlGiven ? null : runningDaemon(homeOf(home));
  return found?.url ?? url;
};
