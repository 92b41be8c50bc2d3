import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, closeSync, openSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { now } from '../clock.js';
import { type CliFault, failed, interrupted } from '../exit.js';
import { complaints } from './line.js';
import { logLines, logOf, type OpenLog, openLog, readFrom } from './log.js';
import { isRunning, processOf, signalTo } from './process.js';
import { listeningIn, readinessOf } from './readiness.js';
import { type DaemonRecord, runningDaemon, writeRecord } from './record.js';

export const EXECUTABLE = fileURLToPath(new URL('../../../bin/adjutant.js', import.meta.url));
const READY_WITHIN_MS = 15_000;
const POLL_MS = 50;
const SHOWN_LINES = 12;

/** Arguments for the start of a daemon. */
export interface DaemonLaunch {
  home: string;
  /** Words for `serve` beside the home. */
  flags: string[];
  /** Ends the waiting, not the daemon. */
  signal: AbortSignal;
}

export interface Started {
  record: DaemonRecord & { url: string };
  tookMs: number;
  /** Notes for its owner from its first lines. */
  notes: string[];
}

interface DaemonChild {
  child: ChildProcess;
  log: string;
  /** Byte at which its own lines begin in the log. */
  from: number;
  /** Holds its stdout, apart from the log: two daemons that start at once share that. */
  said: string;
  /** On the clock of performance.now(). */
  began: number;
  /** Ends the waiting. */
  signal: AbortSignal;
}

/** Starts the daemon in the background and waits until it is ready. Failed: says why not. */
export const startDaemon = async (launch: DaemonLaunch): Promise<Started> => {
  const { home, flags } = launch;
  const startedAt = new Date(now()).toISOString();
  const starting = spawnDaemon(launch);
  const { child, began } = starting;
  const daemon = processOf(child.pid ?? 0) ?? { pid: child.pid ?? 0, started: '' };
  const note = (url: string | null) => {
    if (isRunning(daemon)) keepRecord(home, { ...daemon, url, startedAt, flags });
  };
  try {
    const url = await listening(starting);
    // Not before: of two that start on one home, the one that loses must not sign.
    note(url);
    await ready(url, starting);
    const record = { ...daemon, url, startedAt, flags };
    return { record, tookMs: performance.now() - began, notes: notesIn(starting) };
  } catch (error) {
    if (runningDaemon(home) === null) note(listeningIn(saidBy(starting)));
    throw error;
  } finally {
    moveWords(starting);
  }
};

const spawnDaemon = ({ home, flags, signal }: DaemonLaunch): DaemonChild => {
  const began = performance.now();
  const log = logOf(home);
  const said = `${log}.${process.pid}`;
  const { fd, from, out } = opened(home, said);
  const words = [EXECUTABLE, 'serve', '--home', home, ...flags];
  const child = spawn(process.execPath, words, { detached: true, stdio: ['ignore', out, fd] });
  for (const each of [out, fd]) closeSync(each);
  child.unref();
  return { child, log, from, said, began, signal };
};

const opened = (home: string, said: string): OpenLog & { out: number } => {
  try {
    return { ...openLog(home), out: openSync(said, 'w', 0o600) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw failed(`Not started: the log in ${home} cannot be written: ${why}.`);
  }
};

/** Failed: what nobody could find again, and so not stop, is ended. */
const keepRecord = (home: string, record: DaemonRecord): void => {
  try {
    writeRecord(home, record);
  } catch (error) {
    signalTo(record, 'SIGTERM');
    const why = error instanceof Error ? error.message : String(error);
    throw failed(`Not started: its record in ${home} cannot be written: ${why}.`);
  }
};

/** Copies what it said at its start into the log, unless the disk is full. */
const moveWords = (of: DaemonChild): void => {
  try {
    appendFileSync(of.log, saidBy(of));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
  rmSync(of.said, { force: true });
};

const listening = async (of: DaemonChild): Promise<string> => {
  for (;;) {
    const url = listeningIn(saidBy(of));
    if (url !== null) return url;
    await onceMore(of);
  }
};

const ready = async (url: string, of: DaemonChild): Promise<void> => {
  while ((await readinessOf(url)).is !== 'ready') await onceMore(of);
};

/** A pause between two looks. Failed: it has ended, or takes too long. */
const onceMore = async (of: DaemonChild): Promise<void> => {
  if (hasEnded(of.child)) throw notStarted(of);
  if (performance.now() - of.began > READY_WITHIN_MS) {
    throw failed(
      `Not ready after ${READY_WITHIN_MS / 1000} s; it goes on starting as pid ${of.child.pid}.`,
      'Watch it: adjutant logs -f        Stop it: adjutant down',
    );
  }
  await pause(POLL_MS, undefined, { signal: of.signal }).catch(() => {
    throw interrupted('It goes on starting: adjutant status');
  });
};

/** Its own words where it could say them, else how it ended and the last it wrote. */
const notStarted = ({ child, log, from }: DaemonChild): CliFault => {
  const lines = complaints(logLines(readFrom(log, from)));
  const [first, ...rest] = lines
    .slice(lines.findIndex((line) => line.startsWith('Not started')))
    .map((line) => line.replace('adjutant serve', 'adjutant up'));
  if (first?.startsWith('Not started')) return failed(first, ...rest);
  const how = child.signalCode ?? `exit code ${child.exitCode}`;
  const last = lines.slice(-SHOWN_LINES);
  return failed(`Not started: it ended with ${how}.`, ...last, 'Log: adjutant logs');
};

const notesIn = (of: DaemonChild): string[] =>
  logLines(saidBy(of)).filter((line) => /^ {2}(made|database|setup) /.test(line));

const saidBy = ({ said }: DaemonChild): string => readFrom(said, 0);

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;
