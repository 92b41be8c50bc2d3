import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 50;

/** A process that cannot be taken for a later one with the same id. */
export interface Process {
  pid: number;
  /** The time of its start, as the system writes it; compared only, never shown. */
  started: string;
}

/** The process with this id as it is now; null: there is none, or it has ended. */
export const processOf = (pid: number): Process | null => {
  const started = process.platform === 'linux' ? startTicks(pid) : startTime(pid);
  return started === null ? null : { pid, started };
};

export const isRunning = ({ pid, started }: Process): boolean =>
  processOf(pid)?.started === started;

/** The command line of a process, cut short; null where the system does not tell. */
export const commandOf = (pid: number): string | null => {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    return words.length > 0 ? words.join(' ').slice(0, 80) : null;
  } catch {
    return null;
  }
};

/** Sends a signal; to none who has just ended. */
export const signalTo = (found: Process, signal: NodeJS.Signals): void => {
  try {
    if (isRunning(found)) process.kill(found.pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};

/** True when the process ended within the time. Throws when the signal is aborted. */
export const hasEnded = async (
  found: Process,
  { withinMs, signal }: { withinMs: number; signal?: AbortSignal },
): Promise<boolean> => {
  const end = performance.now() + withinMs;
  while (isRunning(found)) {
    if (performance.now() >= end) return false;
    await pause(POLL_MS, undefined, { signal });
  }
  return true;
};

/**
 * The boot and the clock tick of the process's start. A zombie has ended: where the first process
 * of a container reaps no orphans, it would otherwise run for ever.
 */
const startTicks = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it is in brackets and may hold anything.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return state === 'Z' || state === 'X' ? null : `${boot} ${rest[18]}`;
  } catch {
    return null;
  }
};

const startTime = (pid: number): string | null => {
  try {
    const said = execFileSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [state = '', ...rest] = said.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? null : rest.join(' ');
  } catch {
    return null;
  }
};
