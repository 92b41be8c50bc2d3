import { execFileSync } from 'node:child_process';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.js';
import { makePrivateFolder } from '../../src/kernel/private.js';

const POLL_MS = 50;

/** A process that cannot be confused with a later one of the same id. */
export interface Process {
  pid: number;
  /** Start time in the form of the system; only compared, never shown. */
  started: string;
}

/** Returns the process with this id, or null if it has ended. */
export const findProcess = (pid: number): Process | null => {
  const started = process.platform === 'linux' ? startTicks(pid) : startTime(pid);
  return started === null ? null : { pid, started };
};

export const isRunning = ({ pid, started }: Process): boolean =>
  findProcess(pid)?.started === started;

/** Truncated command line of a process, or null if the system hides it. */
const readProcessCommand = (pid: number): string | null => {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    return words.length > 0 ? words.join(' ').slice(0, 80) : null;
  } catch {
    return null;
  }
};

export const signalTo = (found: Process, signal: NodeJS.Signals): void => {
  try {
    if (isRunning(found)) process.kill(found.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};

/** Whether the process ended in time. Throws if the signal is aborted. */
export const hasEnded = async (
  found: Process,
  { withinMs, signal }: { withinMs: number; signal?: AbortSignal },
): Promise<boolean> => {
  const end = performance.now() + withinMs;
  while (isRunning(found)) {
    if (performance.now() >= end) return false;
    await systemClock.wait(POLL_MS, signal);
  }
  return true;
};

/**
 * Boot id and clock tick of the start of the process. A zombie counts as ended: if the first
 * process of a container reaps no orphans, it would otherwise run forever.
 */
const startTicks = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it is in brackets and may contain anything.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return state === 'Z' || state === 'X' ? null : `${boot} ${rest[18]}`;
  } catch {
    return null;
  }
};

const startTime = (pid: number): string | null => {
  try {
    const output = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [state = '', ...rest] = output.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? null : rest.join(' ');
  } catch {
    return null;
  }
};

const LISTENING = '0A';

export interface PortHolder {
  pid: number;
  /** Truncated. */
  command: string | null;
}

/** The process that holds the port, or null if /proc does not show it. */
export const findPortHolder = (port: number): PortHolder | null => {
  const sockets = ['tcp', 'tcp6'].flatMap((table) => listeningOn(port, read(`/proc/net/${table}`)));
  if (sockets.length === 0) return null;
  const pid = list('/proc').find((name) => /^\d+$/.test(name) && hasOneOf(name, sockets));
  return pid === undefined ? null : { pid: Number(pid), command: readProcessCommand(Number(pid)) };
};

/** ` by pid 2290 (node server.js)`, or nothing if the holder is unknown. */
export const holderText = (holder: PortHolder | null): string =>
  holder === null ? '' : ` by pid ${holder.pid}${holder.command ? ` (${holder.command})` : ''}`;

/** Links of the sockets that listen on a port, from a table of the kernel. */
const listeningOn = (port: number, table: string): string[] => {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    return state === LISTENING && local.endsWith(`:${hex}`) ? [`socket:[${inode}]`] : [];
  });
};

const hasOneOf = (pid: string, sockets: string[]): boolean =>
  list(`/proc/${pid}/fd`).some((fd) => sockets.includes(target(`/proc/${pid}/fd/${fd}`)));

/**
 * Treats unreadable files as absent: a process may end in the meantime, and those of other users
 * are hidden.
 */
const unlessHidden = <T>(look: () => T, otherwise: T): T => {
  try {
    return look();
  } catch {
    return otherwise;
  }
};

const read = (path: string): string => unlessHidden(() => readFileSync(path, 'utf8'), '');
const list = (path: string): string[] => unlessHidden(() => readdirSync(path), []);
const target = (path: string): string => unlessHidden(() => readlinkSync(path), '');

/** The background daemon of a home, as recorded by the command that started it. */
export interface DaemonRecord extends Process {
  /** Null if its address was not known yet. */
  url: string | null;
  /** ISO 8601. */
  startedAt: string;
  /** Flags of `serve` besides the home, for a restart. */
  flags: string[];
}

const getDaemonRecordPath = (home: string): string => join(home, 'daemon.json');

export const runningDaemon = (home: string): DaemonRecord | null => {
  const record = lastDaemon(home);
  return record && isRunning(record) ? record : null;
};

/** The last daemon that was started here and not stopped, running or not. */
export const lastDaemon = (home: string): DaemonRecord | null => {
  try {
    const record: unknown = JSON.parse(readFileSync(getDaemonRecordPath(home), 'utf8'));
    return isRecord(record) ? record : null;
  } catch {
    return null;
  }
};

/** Renamed into place (0600), so that nobody reads a partial file. */
export const writeRecord = (home: string, record: DaemonRecord): void => {
  makePrivateFolder(home);
  const next = `${getDaemonRecordPath(home)}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, getDaemonRecordPath(home));
};

export const dropRecord = (home: string): void =>
  rmSync(getDaemonRecordPath(home), { force: true });

const isRecord = (value: unknown): value is DaemonRecord =>
  typeof value === 'object' &&
  value !== null &&
  'pid' in value &&
  Number.isInteger(value.pid) &&
  'started' in value &&
  'url' in value &&
  'startedAt' in value &&
  'flags' in value &&
  Array.isArray(value.flags);
