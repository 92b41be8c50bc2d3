import { buildColumns } from '../columns.js';
import { type Context, command, switchFlag } from '../command.js';
import { resolveDaemonUrl, resolveHome } from '../daemon/environment.js';
import { isInstalled } from '../daemon/install.js';
import { type DaemonRecord, dropRecord, findPortHolder, runningDaemon } from '../daemon/process.js';
import {
  checkReadiness,
  type ListenAddress,
  listenArguments,
  listenFlags,
} from '../daemon/readiness.js';
import {
  findInstalledService,
  installService,
  startService,
  stopService,
  uninstallService,
} from '../daemon/service.js';
import { hasDrained, startDaemon, stopDaemon } from '../daemon/start.js';
import { failed } from '../exit.js';
import { withProgress } from '../progress.js';
import { duration } from '../text.js';

const recordColumns = buildColumns<DaemonRecord>(['url', 'pid', 'startedAt']);

export const up = command({
  name: 'up',
  summary: 'Start the daemon in the background',
  examples: ['', '--port 3006', '--home /srv/adjutant', '--install'],
  flags: {
    ...listenFlags,
    install: switchFlag('Install a service that starts at login (systemd, or launchd on macOS)'),
  },
  notes: [
    'The daemon uses the settings of this shell. The log is <home>/logs/daemon.log.',
    'A service reads its settings from <home>/environment, one NAME=value per line.',
  ],
  seeAlso: 'status, logs, down, restart',
  run: async (context, { flags }) => {
    if (flags.install) return installService(context, flags);
    const running = runningDaemon(resolveHome(context.flags.home));
    if (running === null || (await hasDrained(running, context.signal))) {
      const service = findInstalledService(context);
      if (service && !(await startService(context, service, { verb: 'start', flags }))) return;
      await startAndReport(context, listenArguments(flags));
      return;
    }
    const where = running.url ?? 'an unknown address';
    context.out.done(`Already running at ${where}, pid ${running.pid}.`, running, recordColumns);
    if (asksForMore(flags)) context.out.note('To change the address: adjutant restart --port …');
  },
});

/**
 * Starts the daemon and prints its address. `flags` are passed to `serve`; `settings` are added
 * to those of this shell.
 */
export const startAndReport = async (
  context: Context,
  flags: string[],
  settings: Record<string, string> = {},
): Promise<DaemonRecord> => {
  const { out, streams, signal } = context;
  const home = resolveHome(context.flags.home);
  const { record, tookMs, notes } = await withProgress(streams.stderr, () =>
    startDaemon({ home, flags, settings, signal }),
  );
  for (const line of notes) out.note(line);
  out.done(`Ready in ${duration(tookMs)} at ${record.url}`, record, recordColumns);
  if (record.url !== resolveDaemonUrl({})) {
    out.note(`Other commands need: export ADJUTANT_URL=${record.url}`);
  }
  return record;
};

const asksForMore = ({ host, port }: ListenAddress): boolean =>
  host !== undefined || port !== undefined;

export const down = command({
  name: 'down',
  summary: 'Stop the background daemon',
  examples: ['', '--force', '--uninstall'],
  flags: {
    force: switchFlag('Kill the daemon if it has not stopped after 30 seconds'),
    uninstall: switchFlag('Remove the service that up --install created. The home folder is kept'),
  },
  notes: [
    'The daemon waits up to ADJUTANT_DRAIN_SECONDS (default 8) for running work. Queued work and work that can resume continue after the next start.',
  ],
  seeAlso: 'up, restart, status',
  run: async (context, { flags }) => {
    if (flags.uninstall) return uninstallService(context);
    const record = runningDaemon(resolveHome(context.flags.home));
    const service = record === null ? findInstalledService(context) : null;
    if (service) return stopService(context, service);
    if (record === null) return nothingToStop(context);
    const tookMs = await stopAndWait(context, record, flags.force === true);
    context.out.done(`Stopped in ${duration(tookMs)}.`, record, recordColumns);
  },
});

/** Returns the duration in milliseconds. */
const stopAndWait = async (
  { flags, streams, signal }: Context,
  record: DaemonRecord,
  isForced: boolean,
): Promise<number> => {
  const began = performance.now();
  const home = resolveHome(flags.home);
  const work = () => stopDaemon({ home, record, isForced, signal });
  await withProgress(streams.stderr, work, 'Draining: waiting for running work to finish…');
  return performance.now() - began;
};

/**
 * Notes that no daemon runs. Throws if one replies that was not started in the background here,
 * because this command cannot stop it.
 */
const nothingToStop = async (context: Context): Promise<void> => {
  const { url, out, flags } = context;
  const { is } = await checkReadiness(url);
  if (is === 'silent' || is === 'otherProgram') {
    dropRecord(resolveHome(flags.home));
    return out.note('Not running.');
  }
  if (isInstalled()) {
    throw failed(
      `The daemon at ${url} runs as a service, which would start it again.`,
      'Remove the service: adjutant down --uninstall',
    );
  }
  if (flags.home !== undefined) {
    throw failed(
      `No background daemon runs on ${resolveHome(flags.home)}.`,
      `The daemon at ${url} may have another home. Pass that home: adjutant down --home …`,
    );
  }
  const holder = findPortHolder(Number(new URL(url).port));
  throw failed(
    `The daemon at ${url} was not started by \`adjutant up\` on ${resolveHome(flags.home)}.`,
    holder
      ? `Stop it in its terminal with ^C, or: kill ${holder.pid}`
      : 'Stop it in its terminal, or pass its home: adjutant down --home …',
  );
};

export const restart = command({
  name: 'restart',
  summary: 'Restart the background daemon',
  examples: ['', '--port 3006', '--force'],
  flags: {
    host: { ...listenFlags.host, about: 'Address to listen on. Defaults to the current address' },
    port: {
      ...listenFlags.port,
      about: 'TCP port to listen on. Defaults to the current port; 0 uses any free port',
    },
    force: switchFlag('Kill the daemon if it has not stopped after 30 seconds'),
  },
  notes: [
    'The daemon keeps the address unless you change it, and uses the settings of this shell.',
  ],
  seeAlso: 'up, down, status',
  run: (context, { flags }) => restartDaemon(context, flags),
});

/** Restarts the daemon. A background daemon also gets the `settings`. */
export const restartDaemon = async (
  context: Context,
  flags: ListenAddress & { force?: boolean },
  settings: Record<string, string> = {},
): Promise<void> => {
  const record = runningDaemon(resolveHome(context.flags.home));
  const service = record === null ? findInstalledService(context) : null;
  if (service && !(await startService(context, service, { verb: 'restart', flags }))) return;
  if (record) {
    const tookMs = await stopAndWait(context, record, flags.force === true);
    context.out.note(`Stopped in ${duration(tookMs)}.`);
  }
  // A later flag overrides an earlier one.
  await startAndReport(context, [...(record?.flags ?? []), ...listenArguments(flags)], settings);
};
