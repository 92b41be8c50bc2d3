import { setTimeout as pause } from 'node:timers/promises';
import type { Column } from '../columns.js';
import type { Context } from '../context.js';
import { failed } from '../exit.js';
import { withProgress } from '../progress.js';
import { duration } from '../times.js';
import { homeOf } from './environment.js';
import type { Listening } from './flags.js';
import { type Installed, installed, turn } from './install.js';
import { ready } from './installing.js';
import { logOf, sizeOf } from './log.js';
import { readinessOf } from './readiness.js';

const columns: Column<{ url: string }>[] = [{ name: 'url', value: ({ url }) => url }];
const POLL_MS = 100;
/** The system gives it 40 s. */
const STOPPED_WITHIN_MS = 45_000;

/** The service that `up --install` made of this home; null: it has none. */
export const serviceOf = ({ flags }: Context): Installed | null => {
  const service = installed();
  return service?.home === homeOf(flags.home) ? service : null;
};

/** Starts the service, or starts it anew, and waits until it is ready. Failed: says why not. */
export const startService = async (
  context: Context,
  { home, url }: Installed,
  { verb, flags }: { verb: 'start' | 'restart'; flags: Listening },
): Promise<void> => {
  const { out, signal, streams } = context;
  if (flags.host !== undefined || flags.port !== undefined) {
    throw failed(
      `It runs as a service, which listens at ${url}.`,
      'Have it listen elsewhere: adjutant up --install --port …',
    );
  }
  if (verb === 'start' && (await readinessOf(url)).is === 'ready') {
    return out.done(`Already running at ${url}, as a service.`, { url }, columns);
  }
  const began = performance.now();
  await withProgress(streams.stderr, async () => {
    const from = sizeOf(logOf(home));
    turn(verb);
    await ready(url, { home, from, signal });
  });
  out.done(
    `Ready in ${duration(performance.now() - began)} at ${url}, as a service.`,
    { url },
    columns,
  );
};

/** Stops the service until it is started, or until the next login. Failed: it answers all the same. */
export const stopService = async (context: Context, { url }: Installed): Promise<void> => {
  const { out, signal, streams } = context;
  if ((await readinessOf(url)).is === 'silent') return out.note('Not running.');
  const began = performance.now();
  await withProgress(streams.stderr, async () => {
    turn('stop');
    const end = performance.now() + STOPPED_WITHIN_MS;
    while ((await readinessOf(url)).is !== 'silent') {
      if (performance.now() > end) throw failed(`It still answers at ${url}.`, 'adjutant logs -f');
      await pause(POLL_MS, undefined, { signal });
    }
  });
  out.done(`Stopped in ${duration(performance.now() - began)}.`, { url }, columns);
  out.note('The service comes back with your next login. Take it away: adjutant down --uninstall');
};
