import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { errorCode } from '../../kernel/failure.js';
import { signalGroup } from '../../kernel/program.js';

/**
 * Ours: how long a kill waits for bubblewrap to name the process that it started. It takes a few
 * milliseconds; one that is stuck before that is killed alone.
 */
const NAMED_MS = 1000;

/**
 * Returns a function that kills the child and everything that it started; after the child has
 * ended it does nothing, since its process ID may belong to another then.
 *
 * A process that bubblewrap starts dies with it only from the end of its set-up on; before that it
 * would go on alone. So a bubblewrap that reports on descriptor 4 (`--json-status-fd`) is stopped,
 * and the first process of the namespace, with which all others end, is killed by the ID that was
 * reported (`child-pid`). If there is none yet, the kill happens as soon as it arrives.
 */
export const killerOf = (child: ChildProcess): (() => void) => {
  const status = child.stdio[4];
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const killGroup = () => isAlive() && signalGroup(child.pid, 'SIGKILL');
  if (!(status instanceof Readable)) return killGroup;
  let reported = '';
  let deadline: NodeJS.Timeout | undefined;
  const kill = () => {
    if (!isAlive()) return;
    const inner = CHILD_PID.exec(reported)?.[1];
    if (inner === undefined) {
      deadline ??= setTimeout(killGroup, NAMED_MS);
      return;
    }
    // While it is stopped it cannot reap the process, so the ID stays with that one.
    signalGroup(child.pid, 'SIGSTOP');
    if (!reported.includes('"exit-code"')) killProcess(Number(inner));
    signalGroup(child.pid, 'SIGKILL');
  };
  status.on('data', (chunk: Buffer) => {
    reported += chunk;
    if (deadline) kill();
  });
  child.once('exit', () => clearTimeout(deadline));
  return kill;
};

/** The ID is followed by a comma or a brace, so that one of which a part is missing is not read. */
const CHILD_PID = /"child-pid": (\d+)\D/;

const killProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(errorCode(error))) throw error;
  }
};
