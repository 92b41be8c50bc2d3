import { copyFileSync, fstatSync, ftruncateSync, renameSync, rmSync, statSync } from 'node:fs';

export const ROTATE_BYTES = 10 * 1024 * 1024;
const KEPT = 3;
const EVERY_MS = 60_000;

/** Puts a log aside: daemon.log.1 is the newest of the old ones. */
export const rotateLog = (path: string): void => {
  shift(path);
  renameSync(path, `${path}.1`);
};

/**
 * Puts a large log aside while it is written to through a descriptor that appends. A descriptor of
 * another file is left alone: what a person redirected is theirs.
 */
export const rotateOpen = (path: string, fd: number): void => {
  const open = fstatSync(fd);
  const named = statSync(path, { throwIfNoEntry: false });
  const isSame = named?.ino === open.ino && named.dev === open.dev;
  if (!isSame || open.size <= ROTATE_BYTES) return;
  const copy = `${path}.copy`;
  try {
    copyFileSync(path, copy);
  } catch (error) {
    // Half a copy, on a disk that is full, would take the place of a whole one.
    rmSync(copy, { force: true });
    throw error;
  }
  shift(path);
  renameSync(copy, `${path}.1`);
  ftruncateSync(fd);
};

/** Does so from time to time where stderr is that log. Returns what stops it. */
export const keepSmall = (path: string): (() => void) => {
  const timer = setInterval(() => {
    try {
      rotateOpen(path, process.stderr.fd);
    } catch (error) {
      // A full disk: the log goes on as it is, and the next turn tries again.
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }, EVERY_MS);
  return () => clearInterval(timer);
};

const shift = (path: string): void => {
  for (let number = KEPT - 1; number >= 1; number--) {
    const old = `${path}.${number}`;
    if (statSync(old, { throwIfNoEntry: false })) renameSync(old, `${path}.${number + 1}`);
  }
};
