import { fieldColumns, type TableColumn } from '../columns.js';
import { command, on } from '../command.js';
import type { Context } from '../context.js';
import { addressOf } from '../daemon/address.js';
import { serviceOf, startService } from '../daemon/control.js';
import { homeOf } from '../daemon/environment.js';
import { type ListenAddress, listenFlags, listenWords } from '../daemon/flags.js';
import { installService } from '../daemon/installation.js';
import { type DaemonRecord, runningDaemon } from '../daemon/record.js';
import { startDaemon } from '../daemon/start.js';
import { withProgress } from '../progress.js';
import { duration } from '../times.js';

/** Columns of a daemon that was started or stopped, for a pipe. */
export const recordColumns: TableColumn<DaemonRecord>[] = [
  ...fieldColumns('url', 'pid', 'startedAt'),
];

export const up = command({
  name: 'up',
  summary: 'Start the daemon in the background',
  examples: ['', '--port 3006', '--home /srv/adjutant', '--install'],
  flags: {
    ...listenFlags,
    install: on('As a service that comes back with your login (systemd, on macOS launchd)'),
  },
  notes: [
    'It takes the settings of this shell. Its log is <home>/logs/daemon.log.',
    'A service takes its settings from <home>/environment, a NAME=value on each line.',
  ],
  seeAlso: 'status, logs, down, restart',
  run: async (context, { flags }) => {
    if (flags.install) return installService(context, flags);
    const running = runningDaemon(homeOf(context.flags.home));
    if (running === null) {
      const service = serviceOf(context);
      if (service && !(await startService(context, service, { verb: 'start', flags }))) return;
      await startAndTell(context, listenWords(flags));
      return;
    }
    const where = running.url ?? 'an address it has not told yet';
    context.out.done(`Already running at ${where}, pid ${running.pid}.`, running, recordColumns);
    if (asksForMore(flags)) context.out.note('To move it: adjutant restart --port …');
  },
});

/** Starts the daemon and tells of it; `flags` are words for `serve`. */
export const startAndTell = async (context: Context, flags: string[]): Promise<DaemonRecord> => {
  const { out, streams, signal } = context;
  const home = homeOf(context.flags.home);
  const { record, tookMs, notes } = await withProgress(streams.stderr, () =>
    startDaemon({ home, flags, signal }),
  );
  for (const line of notes) out.note(line);
  out.done(`Ready in ${duration(tookMs)} at ${record.url}`, record, recordColumns);
  if (record.url !== addressOf({})) {
    out.note(`Other commands find it with: export ADJUTANT_URL=${record.url}`);
  }
  return record;
};

const asksForMore = ({ host, port }: ListenAddress): boolean =>
  host !== undefined || port !== undefined;
