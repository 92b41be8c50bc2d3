import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

/** Writes lines to a descriptor, and holds nobody up where that takes none for a while or no more. */
export interface LineWriter {
  /** Keeps the line until it can be written; drops it where too much is kept already. */
  write(line: string): void;
  /** What is lost so far and was not told yet; 0 lines where all is written, or kept for it. */
  lost(): LostLines;
  /** Writes at once what the descriptor takes, for a process that ends. */
  flushSync(): void;
}

/** Lines that were dropped, told once all that was kept before them is written. */
export interface LostLines {
  lostLines: number;
  /** The code of the system's last error; `EAGAIN`: its reader did not keep up. */
  reason: string;
}

interface LineWriterOptions {
  tell(lost: LostLines): void;
  mostBytes?: number;
}

const MOST_BYTES = 1024 ** 2;
/** A reader that lags is tried again soon, a full disk or a reader that is gone after a second. */
const AGAIN_MS = 20;
const RETRY_MS = 1000;
/** How long the end of the process waits for a reader that lags: 20 times 5 ms. */
const LAST_TRIES = 20;
const LAST_WAIT_MS = 5;
const NONE = Buffer.alloc(0);

export const createLineWriter = (
  fd: number,
  { tell, mostBytes = MOST_BYTES }: LineWriterOptions,
): LineWriter => {
  let to: WriteTarget | undefined;
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
    to ??= targetOf(fd);
    to.write(begun, (error, count) => (error ? tryAgain(error.code ?? '') : goOn(count)));
  };
  const goOn = (count: number): void => {
    state = 'idle';
    bytes -= count;
    begun = begun.subarray(count);
    if (bytes === 0 && lost.lostLines > 0) {
      const told = { ...lost };
      lost.lostLines = 0;
      tell(told);
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
    setTimeout(again, code === 'EAGAIN' ? AGAIN_MS : RETRY_MS).unref();
  };
  return {
    write: (line) => {
      const chunk = Buffer.from(line);
      if (lost.lostLines > 0 || bytes + chunk.length > mostBytes) {
        lost.lostLines++;
        return;
      }
      lines.push(chunk);
      bytes += chunk.length;
      next();
    },
    lost: () => ({ ...lost }),
    flushSync: () => {
      if (!to || (state === 'in flight' && !to.isFile)) return;
      // What is in flight to a file ends before the process does.
      const rest = Buffer.concat([state === 'in flight' ? NONE : begun, ...lines]);
      if (state !== 'in flight') begun = NONE;
      bytes = begun.length;
      lines = [];
      writeLast(to.fd, rest);
    },
  };
};

type Done = (error: NodeJS.ErrnoException | null, count: number) => void;

interface WriteTarget {
  fd: number;
  isFile: boolean;
  write(bytes: Buffer, done: Done): void;
}

const targetOf = (fd: number): WriteTarget => {
  const isFile = fstatSync(fd).isFile();
  const own = isFile ? null : reopened(fd);
  if (own !== null) return { fd: own, isFile, write: (bytes, done) => writeNow(own, bytes, done) };
  // Node makes pipes and sockets of its own streams such that they do not block.
  if (!isFile && !isatty(fd) && process.stderr.writable) {
    return { fd, isFile, write: (bytes, done) => writeNow(fd, bytes, done) };
  }
  // It may block, but a thread of the pool, and not the loop.
  return { fd, isFile, write: (bytes, done) => write(fd, bytes, 0, bytes.length, null, done) };
};

/**
 * The same terminal or pipe with a descriptor of our own that does not block; the given one is shared
 * with whoever started us. Null where the system has no such way, or refuses it.
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
