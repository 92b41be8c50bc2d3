import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { until } from './app.js';

export const replaceByPipe = async (path: string): Promise<void> => {
  await rm(path, { force: true });
  execFileSync('mkfifo', [path]);
};

/** Resolves when the work has ended. `blocked` if it opened the pipe, which ends its wait. */
export const watchPipe = async <T>(
  pipe: string,
  work: Promise<T>,
): Promise<['ended' | 'blocked', T]> => {
  let isEnded = false;
  const result = work.finally(() => {
    isEnded = true;
  });
  const seen = await until(
    async () => (isWaitedFor(pipe) ? 'blocked' : isEnded ? 'ended' : null),
    (state) => state !== null,
  );
  return [seen ?? 'ended', await result];
};

/** Succeeds only while somebody waits at the other end. */
const isWaitedFor = (pipe: string): boolean => {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
};
