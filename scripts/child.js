import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * A signal arrived while a child ran. The child has ended; this process exits with 128 + its
 * number.
 */
class Interrupted extends Error {
  constructor(signal) {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Runs a program and resolves to its exit code. It leads its own process group: SIGINT and
 * SIGTERM are forwarded to the whole group, and remaining processes are killed at its end.
 */
export const run = (command, args, options = {}) => {
  const child = spawn(command, args, { stdio: ['ignore', 2, 2], detached: true, ...options });
  let caught;
  const forward = (signal) => {
    caught = signal;
    signalGroup(child, signal);
  };
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      signalGroup(child, 'SIGKILL');
      if (caught) reject(new Interrupted(caught));
      else resolve(code ?? 128 + constants.signals[signal]);
    });
  }).finally(() => process.off('SIGINT', forward).off('SIGTERM', forward));
};

const signalGroup = (child, signal) => {
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
};

/** Runs the main function of a script. An error is printed as one line, without a stack. */
export const start = async (main) => {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Interrupted)) console.error(`adjutant: ${error.message}`);
    process.exit(error.exitCode ?? 1);
  }
};
