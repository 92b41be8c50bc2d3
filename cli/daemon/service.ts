import { defaultListenAddress, urlOfListener } from '../../src/client/session.js';
import { systemClock } from '../../src/kernel/clock.js';
import { buildColumns } from '../columns.js';
import type { Context } from '../command.js';
import { CliFault, failed } from '../exit.js';
import { withProgress } from '../progress.js';
import { duration } from '../text.js';
import { resolveHome, shortPath } from './environment.js';
import {
  checkManager,
  controlService,
  type Installed,
  install,
  installed,
  isInstalled,
  restoreService,
  type ServiceFiles,
  serviceFile,
  serviceFiles,
  switchService,
  uninstall,
} from './install.js';
import {
  failureLines,
  getDaemonLogPath,
  getFileSize,
  lastLines,
  logLines,
  readFrom,
} from './log.js';
import { type DaemonRecord, findPortHolder, holderText, runningDaemon } from './process.js';
import { checkReadiness, type ListenAddress, listenArguments } from './readiness.js';
import { startDaemon, stopDaemon } from './start.js';

const READY_WITHIN_MS = 15_000;
const POLL_MS = 100;
const SHOWN_LINES = 8;
const columns = buildColumns<{ url?: string; service: string }>(['url', 'service']);

/** Installs the daemon as a service of this user and waits until it is ready. */
export const installService = async (context: Context, input: ListenAddress): Promise<void> => {
  const { out, signal, streams } = context;
  const home = resolveHome(context.flags.home);
  const began = performance.now();
  await withProgress(streams.stderr, async () => {
    checkManager();
    const [record, files] = [runningDaemon(home), serviceFiles()];
    if (record) await stopDaemon({ home, record, isForced: false, signal });
    const from = getFileSize(getDaemonLogPath(home));
    const address = resolveListenAddress(input);
    try {
      install({ home, flags: listenArguments(address) }, urlOfListener(address));
      await ready(urlOfListener(address), { home, from, signal });
    } catch (error) {
      throw await undone(error, { home, record, files });
    }
  });
  const url = urlOfListener(resolveListenAddress(input));
  const took = duration(performance.now() - began);
  const sentence = `Wrote ${shortPath(serviceFile())}, enabled, started. Ready in ${took} at ${url}`;
  out.done(sentence, { url, service: serviceFile() }, columns);
  if (process.platform === 'linux') {
    out.note('To keep it running after logout: loginctl enable-linger "$(id -un)"');
  }
};

interface PreviousInstallation {
  home: string;
  record: DaemonRecord | null;
  files: ServiceFiles;
}

/** Restores the previous service, restarts the previous daemon, and returns the error. */
const undone = async (
  error: unknown,
  { home, record, files }: PreviousInstallation,
): Promise<unknown> => {
  const fault = toFaultMessage(error);
  try {
    restoreService(files);
    if (record) await startDaemon({ home, flags: record.flags, signal: NEVER });
  } catch (trouble) {
    return failed(
      fault.message,
      ...fault.next,
      `Not everything could be undone: ${toFaultMessage(trouble).message}`,
      'Remove the service: adjutant down --uninstall        Then: adjutant up',
    );
  }
  if (!(error instanceof CliFault) && !isFromSystem(error)) return error;
  const now = record ? 'The previous daemon is running again' : 'Nothing was changed';
  return failed(fault.message, ...fault.next, `${now}. Without a service: adjutant up`);
};

const NEVER = new AbortController().signal;

const isFromSystem = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'code' in error;

const toFaultMessage = (error: unknown): { message: string; next: string[] } => {
  if (error instanceof CliFault) return error;
  return { message: `${error instanceof Error ? error.message : error}.`, next: [] };
};

export const uninstallService = async ({ out, streams }: Context): Promise<void> => {
  if (!isInstalled()) return out.note('No service is installed.');
  const refusal = await withProgress(streams.stderr, async () => uninstall());
  const service = serviceFile();
  if (refusal) out.warn(`${refusal.message} Only the service files were removed.`);
  out.done('The service is stopped and removed. The data is kept.', { service }, columns);
};

/** Returns the complete address: the service does not have the environment of this shell. */
const resolveListenAddress = ({ host, port }: ListenAddress): Required<ListenAddress> => ({
  host: host ?? defaultListenAddress().host,
  port: port ?? defaultListenAddress().port,
});

/** Waits until the service is ready. Throws with the reason if it is not ready in time. */
const ready = async (
  url: string,
  { home, from, signal }: { home: string; from: number; signal: AbortSignal },
): Promise<void> => {
  const end = performance.now() + READY_WITHIN_MS;
  while ((await checkReadiness(url)).is !== 'ready') {
    if (performance.now() > end || hasRefused(home, from)) throw notReady(url, home, from);
    await systemClock.wait(POLL_MS, signal);
  }
};

/** Whether the daemon refused to start. The service manager would restart it again and again. */
const hasRefused = (home: string, from: number): boolean =>
  readFrom(getDaemonLogPath(home), from).includes('Not started');

const notReady = (url: string, home: string, from: number): Error => {
  const complaint = failureLines(logLines(readFrom(getDaemonLogPath(home), from))).slice(
    -SHOWN_LINES,
  );
  const holder = findPortHolder(Number(new URL(url).port || 80));
  const lines =
    complaint.length > 0 ? complaint : lastLines(getDaemonLogPath(home), SHOWN_LINES).lines;
  return failed(
    `The service is not ready at ${url}${holder ? `, held${holderText(holder)}` : ''}.`,
    ...lines,
    'Log: adjutant logs',
  );
};

const urlColumns = buildColumns<{ url: string }>(['url']);
/** Maximum wait for the end of the service; the system allows it 40 s. */
const STOPPED_WITHIN_MS = 45_000;

/** The service that `up --install` created for this home, or null. */
export const findInstalledService = ({ flags }: Context): Installed | null => {
  const service = installed();
  return service?.home === resolveHome(flags.home) ? service : null;
};

/**
 * Starts or restarts the service and waits until it is ready. Returns the error of the system if
 * it does not run the service.
 */
export const startService = async (
  context: Context,
  { home, url }: Installed,
  { verb, flags }: { verb: 'start' | 'restart'; flags: ListenAddress },
): Promise<CliFault | null> => {
  const { out, signal, streams } = context;
  if (flags.host !== undefined || flags.port !== undefined) {
    throw failed(
      `The daemon runs as a service that listens at ${url}.`,
      'Change its address: adjutant up --install --port …',
    );
  }
  if (verb === 'start' && (await checkReadiness(url)).is === 'ready') {
    out.done(`Already running at ${url}, as a service.`, { url }, urlColumns);
    return null;
  }
  const began = performance.now();
  const refusal = await withProgress(streams.stderr, async () => {
    const from = getFileSize(getDaemonLogPath(home));
    const refused = controlService(verb);
    if (refused === null) await ready(url, { home, from, signal });
    return refused;
  });
  if (refusal) {
    out.warn(`${refusal.message} Started without the service.`);
    return refusal;
  }
  const took = duration(performance.now() - began);
  out.done(`Ready in ${took} at ${url}, as a service.`, { url }, urlColumns);
  return null;
};

/**
 * Stops the service until it is started, or until the next login. Throws if a daemon still
 * replies.
 */
export const stopService = async (context: Context, { url }: Installed): Promise<void> => {
  const { out, signal, streams } = context;
  if ((await checkReadiness(url)).is === 'silent') return out.note('Not running.');
  const began = performance.now();
  await withProgress(streams.stderr, async () => {
    switchService('stop');
    const end = performance.now() + STOPPED_WITHIN_MS;
    while ((await checkReadiness(url)).is !== 'silent') {
      if (performance.now() > end)
        throw failed(`The daemon still replies at ${url}.`, 'Watch it: adjutant logs -f');
      await systemClock.wait(POLL_MS, signal);
    }
  });
  out.done(`Stopped in ${duration(performance.now() - began)}.`, { url }, urlColumns);
  out.note('The service starts again at your next login. Remove it: adjutant down --uninstall');
};
