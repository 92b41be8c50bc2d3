import { setTimeout as pause } from 'node:timers/promises';
import { fieldColumns, type TableColumn } from '../columns.js';
import type { Context } from '../context.js';
import { CliFault, failed } from '../exit.js';
import { withProgress } from '../progress.js';
import { duration } from '../times.js';
import { homeOf, listeningHere, shortPath } from './environment.js';
import { type ListenAddress, listenWords } from './flags.js';
import {
  checkManager,
  install,
  isInstalled,
  restoreService,
  type ServiceFiles,
  serviceFile,
  serviceFiles,
  uninstall,
} from './install.js';
import { complaints } from './line.js';
import { lastLines, logLines, logOf, readFrom, sizeOf } from './log.js';
import { holderOf, sayHolder } from './port.js';
import { readinessOf } from './readiness.js';
import { type DaemonRecord, runningDaemon } from './record.js';
import { startDaemon } from './start.js';
import { stopDaemon } from './stop.js';

const READY_WITHIN_MS = 15_000;
const POLL_MS = 100;
const SHOWN_LINES = 8;
const columns: TableColumn<{ url?: string; service: string }>[] = [
  ...fieldColumns('url', 'service'),
];

/** Makes the daemon a service of this user and waits until it is ready. Failed: says why not. */
export const installService = async (context: Context, given: ListenAddress): Promise<void> => {
  const { out, signal, streams } = context;
  const home = homeOf(context.flags.home);
  const began = performance.now();
  await withProgress(streams.stderr, async () => {
    checkManager();
    const [record, files] = [runningDaemon(home), serviceFiles()];
    if (record) await stopDaemon({ home, record, isForced: false, signal });
    const from = sizeOf(logOf(home));
    const address = addressOf(given);
    try {
      install({ home, flags: listenWords(address) }, urlOf(address));
      await ready(urlOf(address), { home, from, signal });
    } catch (error) {
      throw await undone(error, { home, record, files });
    }
  });
  const url = urlOf(addressOf(given));
  const took = duration(performance.now() - began);
  const said = `Wrote ${shortPath(serviceFile())}, enabled, started. Ready in ${took} at ${url}`;
  out.done(said, { url, service: serviceFile() }, columns);
  if (process.platform === 'linux') {
    out.note('To run while logged out: loginctl enable-linger "$(id -un)"');
  }
};

interface Before {
  home: string;
  record: DaemonRecord | null;
  files: ServiceFiles;
}

/** Puts back what there was, the daemon that ran included. */
const undone = async (error: unknown, { home, record, files }: Before): Promise<unknown> => {
  const said = messageOf(error);
  try {
    restoreService(files);
    if (record) await startDaemon({ home, flags: record.flags, signal: NEVER });
  } catch (trouble) {
    return failed(
      said.message,
      ...said.next,
      `Not all could be undone: ${messageOf(trouble).message}`,
      'Take the service away: adjutant down --uninstall        Then: adjutant up',
    );
  }
  if (!(error instanceof CliFault) && !isFromSystem(error)) return error;
  const now = record ? 'The daemon runs as before' : 'Nothing was changed';
  return failed(said.message, ...said.next, `${now}. Without a service: adjutant up`);
};

const NEVER = new AbortController().signal;

const isFromSystem = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'code' in error;

const messageOf = (error: unknown): { message: string; next: string[] } => {
  if (error instanceof CliFault) return error;
  return { message: `${error instanceof Error ? error.message : error}.`, next: [] };
};

export const uninstallService = async ({ out, streams }: Context): Promise<void> => {
  if (!isInstalled()) return out.note('No service is installed.');
  const refusal = await withProgress(streams.stderr, async () => uninstall());
  const service = serviceFile();
  if (refusal) out.warn(`${refusal.message} Its files alone were taken away.`);
  out.done('The service is stopped and taken away; what it kept stays.', { service }, columns);
};

/** A service does not see this shell: where it is to listen is said in so many words. */
const addressOf = ({ host, port }: ListenAddress): Required<ListenAddress> => ({
  host: host ?? listeningHere().host,
  port: port ?? listeningHere().port,
});

const urlOf = ({ host, port }: Required<ListenAddress>): string => {
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
};

/** Failed: it is not ready in time; says why not. */
export const ready = async (
  url: string,
  { home, from, signal }: { home: string; from: number; signal: AbortSignal },
): Promise<void> => {
  const end = performance.now() + READY_WITHIN_MS;
  while ((await readinessOf(url)).is !== 'ready') {
    if (performance.now() > end || hasRefused(home, from)) throw notReady(url, home, from);
    await pause(POLL_MS, undefined, { signal });
  }
};

/** The service would be tried again and again. */
const hasRefused = (home: string, from: number): boolean =>
  readFrom(logOf(home), from).includes('Not started');

const notReady = (url: string, home: string, from: number): Error => {
  const said = complaints(logLines(readFrom(logOf(home), from))).slice(-SHOWN_LINES);
  const holder = holderOf(Number(new URL(url).port || 80));
  const lines = said.length > 0 ? said : lastLines(logOf(home), SHOWN_LINES).lines;
  return failed(
    `The service is not ready at ${url}${holder ? `, held${sayHolder(holder)}` : ''}.`,
    ...lines,
    'Log: adjutant logs',
  );
};
