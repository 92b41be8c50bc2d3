import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { type ConfinedResult, type ConfinedRun, ConfinementFailed } from './confinement.js';

/** How a confinement starts a command: the process to spawn, in a group of its own. */
export interface Launch {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Handed over NUL-separated on descriptor 3, where no list of processes shows them. */
  options?: string[];
}

export interface Ended extends ConfinedResult {
  /** What the process said on descriptor 4, which is open where there are options. */
  status: string;
}

interface ChildOutput {
  stdout: Buffer[];
  stderr: Buffer[];
  status: Buffer[];
  truncated: boolean;
}

/** Time for the pipes to run dry once the process is gone, in case something still holds them. */
export const DRAIN_MS = 500;

/**
 * Spawns the process, feeds it, and kills its whole group at the time-out, at the output limit,
 * on abort, and when it ends by itself and leaves others behind.
 */
export const runChild = async (launch: Launch, run: ConfinedRun): Promise<Ended> => {
  run.signal.throwIfAborted();
  const startedMs = performance.now();
  const child = startChild(launch);
  const output = keep(child, run.maxOutputBytes);
  feed(child.stdin, run.stdin ?? '');
  feed(child.stdio[3], (launch.options ?? []).map((option) => `${option}\0`).join(''));
  const watch = guard(child, run);
  const [exitCode, signal] = await closed(child, launch.command).finally(watch.release);
  if (watch.isAborted) throw run.signal.reason;
  const { truncated, stdout, stderr, status } = output;
  const durationMs = Math.round(performance.now() - startedMs);
  return {
    exitCode,
    signal,
    stdout: decode(stdout, truncated),
    stderr: decode(stderr, truncated),
    status: decode(status, false),
    truncated,
    timedOut: watch.isTimedOut,
    durationMs,
  };
};

export const startChild = (launch: Launch): ChildProcess =>
  spawn(launch.command, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    detached: true,
    stdio: launch.options ? Array(5).fill('pipe') : 'pipe',
  });

/** Collects what the child says, and kills it when stdout and stderr exceed the limit. */
const keep = (child: ChildProcess, maxBytes: number): ChildOutput => {
  const output: ChildOutput = { stdout: [], stderr: [], status: [], truncated: false };
  let left = maxBytes;
  const take = (into: Buffer[]) => (chunk: Buffer) => {
    if (left > 0) into.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left >= 0) return;
    output.truncated = true;
    killLiving(child);
  };
  child.stdout?.on('data', take(output.stdout));
  child.stderr?.on('data', take(output.stderr));
  const status = child.stdio[4];
  if (status instanceof Readable) status.on('data', (chunk: Buffer) => output.status.push(chunk));
  return output;
};

export const feed = (stream: unknown, text: string): void => {
  if (!(stream instanceof Writable)) return;
  // A process may end without reading what it was given; the broken pipe is no news then.
  stream.on('error', () => stream.destroy());
  stream.end(text);
};

/** Kills the child at its time-out or on abort, until it has ended or `release` is called. */
const guard = (child: ChildProcess, run: ConfinedRun) => {
  const watch = { isTimedOut: false, isAborted: false, release: () => {} };
  const expire = () => {
    watch.isTimedOut = true;
    killGroup(child);
  };
  const abort = () => {
    watch.isAborted = true;
    killGroup(child);
  };
  const timer = setTimeout(expire, run.timeoutMs);
  run.signal.addEventListener('abort', abort);
  watch.release = () => {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', abort);
  };
  child.once('exit', watch.release);
  return watch;
};

const closed = (
  child: ChildProcess,
  command: string,
): Promise<[exitCode: number | null, signal: string | null]> =>
  new Promise((resolve, reject) => {
    let drain: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      killGroup(child);
      drain = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, DRAIN_MS);
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(drain);
      resolve([exitCode, signal]);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ConfinementFailed(`${command} cannot be started: ${error.code}`));
    });
  });

/** Once it has ended, its number may belong to another. */
export const killLiving = (child: ChildProcess): void => {
  if (child.exitCode === null && child.signalCode === null) killGroup(child);
};

/** SIGKILL to all of its process group; that none is left, or only the dead, is what we want. */
export const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code !== 'ESRCH' && error.code !== 'EPERM') throw error;
  }
};

/** A character that the limit cut in two is left out; bytes that are no UTF-8 become U+FFFD. */
const decode = (chunks: Buffer[], isCut: boolean): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(chunks), { stream: isCut });
