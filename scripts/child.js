import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** A signal came while a child ran: the child has ended, and so should we, with 128 + its number. */
class Interrupted extends Error {
  constructor(signal) {
    super(`interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Runs a program and gives its exit code. It leads a process group of its own: SIGINT and SIGTERM
 * are handed on to all of it, and what it leaves behind is ended with it.
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

/** Runs a script's main function; an error that it throws is one line, not a stack. */
export const start = async (main) => {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof Interrupted)) console.error(`adjutant: ${error.message}`);
    process.exit(error.exitCode ?? 1);
  }
};
