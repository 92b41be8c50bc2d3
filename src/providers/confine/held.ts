import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { DRAIN_MS, feed, killGroup, killLiving, type Launch, startChild } from './child.js';
import { type ConfinedProcess, ConfinementFailed } from './confinement.js';

/** The characters of its last stderr output that are kept, to explain why it ended. */
const LAST_WORDS = 2_000;

/** Starts a process that runs until it is killed. When it ends, its whole group is killed. */
export const holdChild = async (launch: Launch): Promise<ConfinedProcess> => {
  const child = startChild(launch);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('A held process is spoken to over pipes');
  const lastWords = listen(child);
  // The listeners come first: a process may write and end before the next turn of the event loop.
  const ended = closed(child).then((how) => [how, lastWords()].filter(Boolean).join(': '));
  // Whoever writes to an ended process learns of it through `ended`.
  stdin.on('error', () => stdin.destroy());
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    throw new ConfinementFailed(`${launch.command} cannot be started: ${error.code}`);
  });
  feed(child.stdio[3], (launch.options ?? []).map((option) => `${option}\0`).join(''));
  return { stdin, stdout, ended, kill: () => killLiving(child) };
};

const listen = (child: ChildProcess): (() => string) => {
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-LAST_WORDS);
  });
  const status = child.stdio[4];
  if (status && 'resume' in status) status.resume();
  return () => said.trim().split('\n').at(-1) ?? '';
};

const closed = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', () => resolve('it cannot be started'));
    child.once('exit', (code, signal) => {
      killGroup(child);
      const drain = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, DRAIN_MS);
      child.once('close', () => {
        clearTimeout(drain);
        resolve(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`);
      });
    });
  });
