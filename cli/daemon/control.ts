import { setTimeout as pause } from 'node:timers/promises';
import type { TableColumn } from '../columns.js';
import type { Context } from '../context.js';
import { type CliFault, failed } from '../exit.js';
import { withProgress } from '../progress.js';
import { duration } from '../times.js';
import { homeOf } from './environment.js';
import type { ListenAddress } from './flags.js';
import { type Installed, installed, switchService, tryTo } from './install.js';
import { ready } from './installation.js';
import { logOf, sizeOf } from './log.js';
import { readinessOf } from './readiness.js';

const columns: TableColumn<{ url: string }>[] = [{ name: 'url', value: ({ url }) => url }];
const POLL_MS = 100;
/** The system gives it 40 s. */
const STOPPED_WITHIN_MS = 45_000;

/** The service that `up --install` made of this home; null: it has none. */
export const serviceOf = ({ flags }: Context): Installed | null => {
  const service = installed();
  return service?.home === homeOf(flags.home) ? service : null;
};

/**
 * Starts the service, or starts it anew, and waits until it is ready; what the system says where it
 * does not run it. Failed: says why it is not ready.
 */
export const startService = async (
  context: Context,
  { home, url }: Installed,
  { verb, flags }: { verb: 'start' | 'restart'; flags: ListenAddress },
): Promise<CliFault | null> => {
  const { out, signal, streams } = context;
  if (flags.host !== undefined || flags.port !== undefined) {
    throw failed(
      `It runs as a service, which listens at ${url}.`,
      'Have it listen elsewhere: adjutant up --install --port …',
    );
  }
  if (verb === 'start' && (await readinessOf(url)).is === 'ready') {
    out.done(`Already running at ${url}, as a service.`, { url }, columns);
    return null;
  }
  const began = performance.now();
  const refusal = await withProgress(streams.stderr, async () => {
    const from = sizeOf(logOf(home));
    const refused = tryTo(verb);
    if (refused === null) await ready(url, { home, from, signal });
    return refused;
  });
  if (refusal) {
    out.warn(`${refusal.message} Started without the service.`);
    return refusal;
  }
  const took = duration(performance.now() - began);
  out.done(`Ready in ${took} at ${url}, as a service.`, { url }, columns);
  return null;
};

/** Stops the service until it is started, or until the next login. Failed: it answers all the same. */
export const stopService = async (context: Context, { url }: Installed): Promise<void> => {
  const { out, signal, streams } = context;
  if ((await readinessOf(url)).is === 'silent') return out.note('Not running.');
  const began = performance.now();
  await withProgress(streams.stderr, async () => {
    switchService('stop');
    const end = performance.now() + STOPPED_WITHIN_MS;
    while ((await readinessOf(url)).is !== 'silent') {
      if (performance.now() > end) throw failed(`It still answers at ${url}.`, 'adjutant logs -f');
      await pause(POLL_MS, undefined, { signal });
    }
  });
  out.done(`Stopped in ${duration(performance.now() - began)}.`, { url }, columns);
  out.note('The service comes back with your next login. Take it away: adjutant down --uninstall');
};
