import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/kernel/clock.js';
import { type CliFault, failed, interrupted } from '../exit.js';
import { now } from '../text.js';
import { daemonEnvironment } from './environment.js';
import {
  failureLines,
  getDaemonLogPath,
  logLines,
  type OpenLog,
  openLog,
  readFrom,
} from './log.js';
import {
  type DaemonRecord,
  dropRecord,
  findProcess,
  hasEnded,
  isRunning,
  lastDaemon,
  runningDaemon,
  signalTo,
  writeRecord,
} from './process.js';
import { checkReadiness, parseListeningUrl } from './readiness.js';

const EXECUTABLE = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));

/**
 * Options of node for the daemon. By default V8 lets the space for new objects grow to 48 MB and
 * keeps it (https://v8.dev/blog/trash-talk). Measured: half of that costs a delivery no time, and
 * a quarter a tenth more of the event loop's time, because more objects survive. An idle daemon
 * has the same size with each.
 */
export const V8_OPTIONS = ['--max-semi-space-size=8'];

export const serveArguments = (home: string): string[] => [
  ...V8_OPTIONS,
  ...[EXECUTABLE, 'serve', '--home', home],
];
const READY_WITHIN_MS = 15_000;
const POLL_MS = 50;
const SHOWN_LINES = 12;

export interface DaemonLaunch {
  home: string;
  /** Flags of `serve` besides the home. */
  flags: string[];
  /** Settings in addition to those of this shell. */
  settings?: Record<string, string>;
  /** Ends the wait, not the daemon. */
  signal: AbortSignal;
}

export interface StartedDaemon {
  record: DaemonRecord & { url: string };
  tookMs: number;
  /** Notes for the user from its first lines. */
  notes: string[];
}

interface DaemonChild {
  child: ChildProcess;
  log: string;
  /** Offset of its own lines in the log. */
  from: number;
  /** Holds its stdout, separate from the log, which two daemons that start at once share. */
  outputFile: string;
  /** In the time of performance.now(). */
  began: number;
  signal: AbortSignal;
}

/**
 * Starts the daemon in the background and waits until it is ready. Throws with the reason if it
 * is not.
 */
export const startDaemon = async (launch: DaemonLaunch): Promise<StartedDaemon> => {
  const { home, flags } = launch;
  const startedAt = new Date(now()).toISOString();
  const starting = spawnDaemon(launch);
  const { child, began } = starting;
  const daemon = findProcess(child.pid ?? 0) ?? { pid: child.pid ?? 0, started: '' };
  const note = (url: string | null) => {
    if (isRunning(daemon)) keepRecord(home, { ...daemon, url, startedAt, flags });
  };
  try {
    const url = await listening(starting);
    // Not earlier: of two daemons that start on one home, the loser must not write the record.
    note(url);
    await ready(url, starting);
    const record = { ...daemon, url, startedAt, flags };
    return { record, tookMs: performance.now() - began, notes: notesIn(starting) };
  } catch (error) {
    if (runningDaemon(home) === null) note(parseListeningUrl(readChildOutput(starting)));
    throw error;
  } finally {
    moveWords(starting);
  }
};

const spawnDaemon = ({ home, flags, settings, signal }: DaemonLaunch): DaemonChild => {
  const began = performance.now();
  const log = getDaemonLogPath(home);
  const outputFile = `${log}.${process.pid}`;
  const { fd, from, out } = opened(home, outputFile);
  const words = [...serveArguments(home), ...flags];
  const env = { ...daemonEnvironment(), ...settings };
  const child = spawn(process.execPath, words, { detached: true, env, stdio: ['ignore', out, fd] });
  for (const each of [out, fd]) closeSync(each);
  child.unref();
  return { child, log, from, outputFile, began, signal };
};

const opened = (home: string, outputFile: string): OpenLog & { out: number } => {
  try {
    return { ...openLog(home), out: openSync(outputFile, 'w', 0o600) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw failed(`Not started: cannot write the log in ${home}: ${why}.`);
  }
};

/**
 * Writes the record of the daemon. If that fails, stops the daemon, because no command could find
 * it.
 */
const keepRecord = (home: string, record: DaemonRecord): void => {
  try {
    writeRecord(home, record);
  } catch (error) {
    signalTo(record, 'SIGTERM');
    const why = error instanceof Error ? error.message : String(error);
    throw failed(`Not started: cannot write the daemon record in ${home}: ${why}.`);
  }
};

/** Appends its first output to the log, unless the disk is full. */
const moveWords = (of: DaemonChild): void => {
  try {
    appendFileSync(of.log, readChildOutput(of));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
  rmSync(of.outputFile, { force: true });
};

const listening = async (of: DaemonChild): Promise<string> => {
  for (;;) {
    const url = parseListeningUrl(readChildOutput(of));
    if (url !== null) return url;
    await onceMore(of);
  }
};

const ready = async (url: string, of: DaemonChild): Promise<void> => {
  while ((await checkReadiness(url)).is !== 'ready') await onceMore(of);
};

const onceMore = async (of: DaemonChild): Promise<void> => {
  if (isOver(of.child)) throw notStarted(of);
  if (performance.now() - of.began > READY_WITHIN_MS) {
    throw failed(
      `Not ready after ${READY_WITHIN_MS / 1000} s. The daemon continues to start as ` +
        `pid ${of.child.pid}.`,
      'Watch it: adjutant logs -f        Stop it: adjutant down',
    );
  }
  await systemClock.wait(POLL_MS, of.signal).catch(() => {
    throw interrupted('The daemon continues to start: adjutant status');
  });
};

/** Returns the error message of the daemon, or else how it ended and its last lines. */
const notStarted = ({ child, log, from }: DaemonChild): CliFault => {
  const lines = failureLines(logLines(readFrom(log, from)));
  const [first, ...rest] = lines
    .slice(lines.findIndex((line) => line.startsWith('Not started')))
    .map((line) => line.replace('adjutant serve', 'adjutant up'));
  if (first?.startsWith('Not started')) return failed(first, ...rest);
  const how = child.signalCode ?? `exit code ${child.exitCode}`;
  const last = lines.slice(-SHOWN_LINES);
  return failed(`Not started: the daemon ended with ${how}.`, ...last, 'Log: adjutant logs');
};

const notesIn = (of: DaemonChild): string[] =>
  logLines(readChildOutput(of)).filter((line) => /^ {2}(created|database|setup) /.test(line));

const readChildOutput = ({ outputFile }: DaemonChild): string => readFrom(outputFile, 0);

const isOver = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

const STOPPED_WITHIN_MS = 30_000;
const KILLED_WITHIN_MS = 5_000;
const CLOSED_WITHIN_MS = 3_000;

export interface StopOptions {
  home: string;
  record: DaemonRecord;
  /** Whether to kill it if it does not stop by itself. */
  isForced: boolean;
  signal: AbortSignal;
}

/** Asks the daemon to stop and waits for its end. Throws if it still runs after 30 s. */
export const stopDaemon = async ({
  home,
  record,
  isForced,
  signal,
}: StopOptions): Promise<void> => {
  signalTo(record, 'SIGTERM');
  const isStopped = await hasEnded(record, { withinMs: STOPPED_WITHIN_MS, signal }).catch(() => {
    throw interrupted('The daemon continues to stop: adjutant status');
  });
  if (!isStopped && !isForced) {
    throw failed(
      `Still stopping after ${STOPPED_WITHIN_MS / 1000} s: pid ${record.pid} is ` +
        'finishing its work.',
      'Watch it: adjutant logs -f        Kill it: adjutant down --force',
    );
  }
  if (!isStopped) await kill(record);
  // Another daemon may have been started in the meantime.
  if (lastDaemon(home)?.pid === record.pid) dropRecord(home);
};

/**
 * Waits for the end of a draining daemon, for example if another command stops it. Returns false
 * if it keeps running.
 */
export const hasDrained = async (record: DaemonRecord, signal: AbortSignal): Promise<boolean> => {
  if (record.url === null) return false;
  const reply = await checkReadiness(record.url);
  const isDraining = reply.is === 'not_ready' && reply.failing.includes('draining');
  // A draining daemon closes its port some time before it ends.
  if (!isDraining && reply.is !== 'silent') return false;
  const withinMs = isDraining ? STOPPED_WITHIN_MS : CLOSED_WITHIN_MS;
  return hasEnded(record, { withinMs, signal });
};

const kill = async (record: DaemonRecord): Promise<void> => {
  signalTo(record, 'SIGKILL');
  if (await hasEnded(record, { withinMs: KILLED_WITHIN_MS })) return;
  throw failed(
    `Cannot end pid ${record.pid}, not even with SIGKILL. The kernel holds the process, mostly for a ` +
      'disk that does not respond. Restart the machine.',
  );
};
