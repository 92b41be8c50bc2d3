import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type Launch, startChild, toStartError, whenClosed } from './child.js';
import type { ConfinedProcess } from './confinement.js';
import { createKiller } from './kill.js';

/** Length of the stderr output that is kept to explain why the process ended. */
const KEPT_STDERR_LENGTH = 2_000;

export const startPipeProcess = async (launch: Launch): Promise<ConfinedProcess> => {
  const child = startChild(launch);
  const kill = createKiller(child);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('The process must have pipes for stdin and stdout');
  const lastWords = listen(child);
  // Listeners come first, because a process may write and end before the next turn of the event
  // loop.
  const ended = whenClosed(child)
    .then(
      ([code, signal]) =>
        signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`,
      () => 'it cannot be started',
    )
    .then((how) => [how, lastWords()].filter(Boolean).join(': '));
  // Writers learn of the end through `ended`.
  stdin.on('error', () => stdin.destroy());
  await once(child, 'spawn').catch(toStartError(launch));
  return { stdin, stdout, ended, kill };
};

const listen = (child: ChildProcess): (() => string) => {
  let printed = '';
  child.stderr?.on('data', (piece: Buffer) => {
    printed = (printed + piece.toString()).slice(-KEPT_STDERR_LENGTH);
  });
  const status = child.stdio[4];
  if (status && 'resume' in status) status.resume();
  return () => printed.trim().split('\n').at(-1) ?? '';
};
