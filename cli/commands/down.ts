import { command, on } from '../command.js';
import type { Context } from '../context.js';
import { serviceOf, stopService } from '../daemon/control.js';
import { homeOf } from '../daemon/environment.js';
import { isInstalled } from '../daemon/install.js';
import { uninstallService } from '../daemon/installation.js';
import { holderOf } from '../daemon/port.js';
import { readinessOf } from '../daemon/readiness.js';
import { type DaemonRecord, dropRecord, runningDaemon } from '../daemon/record.js';
import { stopDaemon } from '../daemon/stop.js';
import { failed } from '../exit.js';
import { withProgress } from '../progress.js';
import { duration } from '../times.js';
import { recordColumns } from './up.js';

export const down = command({
  name: 'down',
  summary: 'Stop the daemon in the background; what runs is finished first',
  examples: ['', '--force', '--uninstall'],
  flags: {
    force: on('End it hard when it does not end within 30 s'),
    uninstall: on('Take away the service that up --install made; what it kept stays'),
  },
  notes: ['What waits is kept, and runs after the next start.'],
  seeAlso: 'up, restart, status',
  run: async (context, { flags }) => {
    if (flags.uninstall) return uninstallService(context);
    const record = runningDaemon(homeOf(context.flags.home));
    const service = record === null ? serviceOf(context) : null;
    if (service) return stopService(context, service);
    if (record === null) return nothingToStop(context);
    const tookMs = await stopAndWait(context, record, flags.force === true);
    context.out.done(`Stopped in ${duration(tookMs)}.`, record, recordColumns);
  },
});

/** Stops the daemon; how long that took, in milliseconds. */
export const stopAndWait = async (
  { flags, streams, signal }: Context,
  record: DaemonRecord,
  isForced: boolean,
): Promise<number> => {
  const began = performance.now();
  const home = homeOf(flags.home);
  const work = () => stopDaemon({ home, record, isForced, signal });
  await withProgress(streams.stderr, work, 'Draining: what runs is finished…');
  return performance.now() - began;
};

/** Only what was started here is stopped from here. Failed: a daemon answers all the same. */
const nothingToStop = async (context: Context): Promise<void> => {
  const { url, out, flags } = context;
  const { is } = await readinessOf(url);
  if (is === 'silent' || is === 'stranger') {
    dropRecord(homeOf(flags.home));
    return out.note('Not running.');
  }
  if (isInstalled()) {
    throw failed(
      `The daemon at ${url} runs as a service, which would start it again.`,
      'Take the service away: adjutant down --uninstall',
    );
  }
  if (flags.home !== undefined) {
    throw failed(
      `No daemon in the background runs on ${homeOf(flags.home)}.`,
      `What answers at ${url} may be another home's: adjutant status`,
    );
  }
  const holder = holderOf(Number(new URL(url).port));
  throw failed(
    `The daemon at ${url} was not started by \`adjutant up\` on ${homeOf(flags.home)}.`,
    holder
      ? `End it where it runs, with ^C, or: kill ${holder.pid}`
      : 'End it where it runs, or name its home: adjutant down --home …',
  );
};
