import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closed, type Launch, notStarted, startChild } from './child.js';
import type { ConfinedProcess } from './confinement.js';
import { killerOf } from './kill.js';

/** The characters of its last stderr output that are kept, to explain why it ended. */
const LAST_WORDS = 2_000;

/** Starts a process that runs until it is killed. When it ends, its whole group is killed. */
export const startPipeProcess = async (launch: Launch): Promise<ConfinedProcess> => {
  const child = startChild(launch);
  const kill = killerOf(child);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('The process must have pipes for stdin and stdout');
  const lastWords = listen(child);
  // The listeners come first: a process may write and end before the next turn of the event loop.
  const ended = closed(child)
    .then(
      ([code, signal]) =>
        signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`,
      () => 'it cannot be started',
    )
    .then((how) => [how, lastWords()].filter(Boolean).join(': '));
  // Whoever writes to an ended process learns of it through `ended`.
  stdin.on('error', () => stdin.destroy());
  await once(child, 'spawn').catch(notStarted(launch));
  return { stdin, stdout, ended, kill };
};

const listen = (child: ChildProcess): (() => string) => {
  let printed = '';
  child.stderr?.on('data', (piece: Buffer) => {
    printed = (printed + piece.toString()).slice(-LAST_WORDS);
  });
  const status = child.stdio[4];
  if (status && 'resume' in status) status.resume();
  return () => printed.trim().split('\n').at(-1) ?? '';
};
