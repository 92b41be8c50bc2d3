import { type SpawnOptions, spawn } from 'node:child_process';
import { ReadStream } from 'node:tty';
import { systemClock } from '../src/kernel/clock.js';

/**
 * Runs a program on this terminal until it ends. Only the program receives ^C, and it ends with
 * this process. Resolves to its exit code, or null if it could not be started or was killed.
 */
export const inForeground = (
  [program, ...words]: readonly [string, ...string[]],
  options: Pick<SpawnOptions, 'env' | 'stdio'> = {},
): Promise<number | null> =>
  new Promise((resolve) => {
    const listening = process.listeners('SIGINT');
    process.removeAllListeners('SIGINT').on('SIGINT', ignore);
    const child = spawn(program, words, { stdio: 'inherit', ...options });
    // A program that outlives this process would share the terminal with the shell.
    const take = (): void => void child.kill();
    // Prepended, because other listeners may end the process at once.
    for (const signal of SIGNALS) process.prependListener(signal, take);
    process.prependListener('exit', take);
    const end = (code: number | null): void => {
      process.off('SIGINT', ignore).off('exit', take);
      for (const signal of SIGNALS) process.off(signal, take);
      for (const each of listening) process.on('SIGINT', each);
      resolve(code);
    };
    const endSoon = (code: number | null) => systemClock.after(LATE_SIGNAL_MS, () => end(code));
    child.once('error', () => end(null)).once('exit', endSoon);
  });

/**
 * A ^C that ended the program is also sent to this process, possibly after the end of the
 * program: the kernel delivers pending signals in either order.
 */
const LATE_SIGNAL_MS = 50;

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

const ignore = (): void => {};

/**
 * Sets raw mode again whenever the process continues after a stop that it did not start (`kill
 * -STOP`): the shell changes the mode of the terminal, and a hidden answer would be shown.
 * Returns a function that ends this.
 */
export const keepRawMode = (input: NodeJS.ReadableStream): (() => void) => {
  if (!(input instanceof ReadStream)) return () => {};
  const renew = (): void => {
    if (input.isRaw) renewRawMode(input);
  };
  process.on('SIGCONT', renew);
  return () => void process.off('SIGCONT', renew);
};

/** Sets raw mode even if it is set: Node skips a mode that it believes to be active. */
export const renewRawMode = (input: Pick<ReadStream, 'setRawMode'>): void => {
  input.setRawMode(false);
  input.setRawMode(true);
};
