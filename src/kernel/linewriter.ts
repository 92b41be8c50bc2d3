import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { systemClock } from './clock.js';

export type LineWriter = ReturnType<typeof createLineWriter>;

export interface LostLines {
  lostLines: number;
  /** System error code. `EAGAIN`: the reader was too slow. */
  reason: string;
}

const MAX_BYTES = 1024 ** 2;
/** Retry delay: short for a slow reader, a second for a full disk or a closed reader. */
const AGAIN_MS = 20;
const RETRY_MS = 1000;
const LAST_TRIES = 20;
const LAST_WAIT_MS = 5;
const NONE = Buffer.alloc(0);

export const createLineWriter = (
  fd: number,
  { tell, mostBytes = MAX_BYTES }: { tell(lost: LostLines): void; mostBytes?: number },
) => {
  let to: ReturnType<typeof openWriteTarget> | undefined;
  let lines: Buffer[] = [];
  let begun: Buffer = NONE;
  let bytes = 0;
  let state: 'idle' | 'in flight' | 'waiting' = 'idle';
  const lost: LostLines = { lostLines: 0, reason: '' };

  const next = (): void => {
    if (state !== 'idle') return;
    if (begun.length === 0) [begun, lines] = [Buffer.concat(lines), []];
    if (begun.length === 0) return;
    state = 'in flight';
    to ??= openWriteTarget(fd);
    to.write(begun, (error, count) => (error ? tryAgain(error.code ?? '') : goOn(count)));
  };
  const goOn = (count: number): void => {
    state = 'idle';
    bytes -= count;
    begun = begun.subarray(count);
    if (bytes === 0 && lost.lostLines > 0) {
      const counts = { ...lost };
      lost.lostLines = 0;
      tell(counts);
    }
    next();
  };
  const tryAgain = (code: string): void => {
    state = 'waiting';
    lost.reason = code;
    const again = (): void => {
      state = 'idle';
      next();
    };
    systemClock.after(code === 'EAGAIN' ? AGAIN_MS : RETRY_MS, again, { ref: false });
  };
  return {
    write: (line: string): void => {
      const chunk = Buffer.from(line);
      if (lost.lostLines > 0 || bytes + chunk.length > mostBytes) {
        lost.lostLines++;
        return;
      }
      lines.push(chunk);
      bytes += chunk.length;
      next();
    },
    lost: (): LostLines => ({ ...lost }),
    flushSync: (): void => {
      if (!to || (state === 'in flight' && !to.isFile)) return;
      const rest = Buffer.concat([state === 'in flight' ? NONE : begun, ...lines]);
      if (state !== 'in flight') begun = NONE;
      bytes = begun.length;
      lines = [];
      writeLast(to.fd, rest);
    },
  };
};

type Done = (error: NodeJS.ErrnoException | null, count: number) => void;

const openWriteTarget = (given: number) => {
  const isFile = fstatSync(given).isFile();
  const own = isFile ? null : reopened(given);
  const fd = own ?? given;
  // Node's own streams make pipes and sockets non-blocking.
  const neverBlocks = own !== null || (!isFile && !isatty(given) && process.stderr.writable);
  const writeSome = (bytes: Buffer, done: Done): void =>
    // The other write may block a pool thread, but not the event loop.
    neverBlocks ? writeNow(fd, bytes, done) : write(fd, bytes, 0, bytes.length, null, done);
  return { fd, isFile, write: writeSome };
};

/**
 * Opens the same terminal or pipe with a non-blocking descriptor of our own, because the given one
 * is shared with the parent process. Null if that is not possible.
 */
const reopened = (fd: number): number | null => {
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return null;
  }
};

const writeNow = (fd: number, bytes: Buffer, done: Done): void => {
  let count = 0;
  let failure: NodeJS.ErrnoException | null = null;
  try {
    count = writeSync(fd, bytes);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    failure = error;
  }
  done(failure, count);
};

const writeLast = (fd: number, bytes: Buffer): void => {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let rest = bytes;
  for (let tries = 0; rest.length > 0 && tries < LAST_TRIES; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (!isSystemError(error)) throw error;
      if (error.code !== 'EAGAIN') return;
      tries++;
      Atomics.wait(pause, 0, 0, LAST_WAIT_MS);
    }
  }
};

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error;
