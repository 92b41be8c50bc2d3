import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { type Cancel, systemClock } from '../../kernel/clock.js';
import { errorCode } from '../../kernel/failure.js';
import { signalGroup } from '../../kernel/program.js';
import { type ConfinedResult, type ConfinedRun, ConfinementFailed } from './confinement.js';
import { createKiller } from './kill.js';

export interface Launch {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** NUL-separated options on descriptor 3, so that process lists do not show them. */
  options?: string[];
}

export interface EndedProcess extends ConfinedResult {
  /** Output on descriptor 4, which is open if there are options. */
  status: string;
}

interface ChildOutput {
  stdout: Buffer[];
  stderr: Buffer[];
  status: Buffer[];
  truncated: boolean;
}

/** Time for pipes to close after the process has ended, in case another process holds them. */
const DRAIN_MS = 500;

/**
 * Kills the process group at the time limit, at the output limit, on abort, and when the process
 * ends.
 */
export const runChild = async (launch: Launch, run: ConfinedRun): Promise<EndedProcess> => {
  run.signal.throwIfAborted();
  const startedMs = performance.now();
  const child = startChild(launch);
  const kill = createKiller(child);
  const output = keep(child, run.maxOutputBytes, kill);
  feed(child.stdin, run.stdin ?? '');
  const watch = guard(child, run, kill);
  const [exitCode, signal] = await whenClosed(child)
    .catch(toStartError(launch))
    .finally(watch.release);
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

export const startChild = ({ command, args, cwd, env, options }: Launch): ChildProcess => {
  const stdio = options ? Array(5).fill('pipe') : 'pipe';
  const child = spawn(command, args, { cwd, env, detached: true, stdio });
  feed(child.stdio[3], (options ?? []).map((option) => `${option}\0`).join(''));
  return child;
};

const keep = (child: ChildProcess, maxBytes: number, kill: () => void): ChildOutput => {
  const output: ChildOutput = { stdout: [], stderr: [], status: [], truncated: false };
  let left = maxBytes;
  const take = (into: Buffer[]) => (chunk: Buffer) => {
    if (left > 0) into.push(chunk.subarray(0, left));
    left -= chunk.length;
    if (left >= 0) return;
    output.truncated = true;
    kill();
  };
  child.stdout?.on('data', take(output.stdout));
  child.stderr?.on('data', take(output.stderr));
  const status = child.stdio[4];
  if (status instanceof Readable) status.on('data', (chunk: Buffer) => output.status.push(chunk));
  return output;
};

const feed = (stream: unknown, text: string): void => {
  if (!(stream instanceof Writable)) return;
  // A process may end without reading its input.
  stream.on('error', () => stream.destroy());
  stream.end(text);
};

const guard = (child: ChildProcess, run: ConfinedRun, kill: () => void) => {
  const watch = { isTimedOut: false, isAborted: false, release: () => {} };
  const expire = () => {
    watch.isTimedOut = true;
    kill();
  };
  const abort = () => {
    watch.isAborted = true;
    kill();
  };
  const cancel = systemClock.after(run.timeoutMs, expire);
  run.signal.addEventListener('abort', abort);
  watch.release = () => {
    cancel();
    run.signal.removeEventListener('abort', abort);
  };
  child.once('exit', watch.release);
  return watch;
};

/**
 * Kills the group when the child ends, and resolves when its pipes are closed. Rejects if it cannot
 * be started.
 */
export const whenClosed = (
  child: ChildProcess,
): Promise<[exitCode: number | null, signal: string | null]> =>
  new Promise((resolve, reject) => {
    let cancel: Cancel | undefined;
    child.once('exit', () => {
      signalGroup(child.pid, 'SIGKILL');
      cancel = systemClock.after(DRAIN_MS, () => {
        for (const stream of child.stdio) stream?.destroy();
      });
    });
    child.once('close', (exitCode, signal) => {
      cancel?.();
      resolve([exitCode, signal]);
    });
    child.once('error', reject);
  });

export const toStartError =
  ({ command }: Launch) =>
  (error: unknown) => {
    throw new ConfinementFailed(`${command} cannot be started: ${errorCode(error)}`);
  };

/** A character that the limit has cut is left out. Invalid bytes become U+FFFD. */
const decode = (chunks: Buffer[], isCut: boolean): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(chunks), { stream: isCut });
