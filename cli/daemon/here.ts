import { Context } from '../context.js';
import { homeOf } from './environment.js';
import { runningDaemon } from './record.js';

const DEFAULT_URL = 'http://127.0.0.1:3005';

/** Whether an address is one of this machine's own. */
export const isHere = (url: string): boolean =>
  ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);

/**
 * The same context, aimed at the daemon that runs in the background of the home where no other
 * address was named: `status` after `up --port 3006` means that one.
 */
export const aimed = (context: Context): Context => {
  const { flags, streams, at } = context;
  if (flags.server !== undefined || context.url !== DEFAULT_URL) return context;
  const url = runningDaemon(homeOf(flags.home))?.url;
  return url ? new Context(streams, { ...flags, server: url }, at) : context;
};
