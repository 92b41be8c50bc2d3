import { type SpawnOptions, spawn } from 'node:child_process';

/**
 * Gives this terminal to a program until it ends: ^C is for that alone. Resolves with its exit
 * code; null: it could not be started, or was killed.
 */
export const inForeground = (
  [program, ...words]: readonly [string, ...string[]],
  options: Pick<SpawnOptions, 'env' | 'stdio'> = {},
): Promise<number | null> =>
  new Promise((resolve) => {
    const listening = process.listeners('SIGINT');
    process.removeAllListeners('SIGINT').on('SIGINT', ignore);
    const end = (code: number | null): void => {
      process.off('SIGINT', ignore);
      for (const each of listening) process.on('SIGINT', each);
      resolve(code);
    };
    const child = spawn(program, words, { stdio: 'inherit', ...options });
    child.once('error', () => end(null)).once('exit', end);
  });

const ignore = (): void => {};
