import type { ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { type Cancel, systemClock } from '../../kernel/clock.js';
import { errorCode } from '../../kernel/failure.js';
import { signalGroup } from '../../kernel/program.js';

/**
 * Maximum time to wait until bubblewrap reports its process. It usually takes a few milliseconds. A
 * process that is stuck before that is killed alone.
 */
const NAMED_MS = 1000;

/**
 * Returns a function that kills the child and all its processes. It does nothing after the child
 * has ended, because its ID may be reused. Before its set-up ends, a process of bubblewrap would
 * survive it. So bubblewrap is stopped, and the first process of the namespace is killed by the ID
 * (`child-pid`) that it reports on descriptor 4 (`--json-status-fd`), as soon as it arrives.
 */
export const createKiller = (child: ChildProcess): (() => void) => {
  const status = child.stdio[4];
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const killGroup = () => isAlive() && signalGroup(child.pid, 'SIGKILL');
  if (!(status instanceof Readable)) return killGroup;
  let reported = '';
  let cancel: Cancel | undefined;
  const kill = () => {
    if (!isAlive()) return;
    const inner = CHILD_PID.exec(reported)?.[1];
    if (inner === undefined) {
      cancel ??= systemClock.after(NAMED_MS, killGroup);
      return;
    }
    // A stopped bubblewrap cannot reap the process, so its ID is not reused.
    signalGroup(child.pid, 'SIGSTOP');
    if (!reported.includes('"exit-code"')) killProcess(Number(inner));
    signalGroup(child.pid, 'SIGKILL');
  };
  status.on('data', (chunk: Buffer) => {
    reported += chunk;
    if (cancel) kill();
  });
  child.once('exit', () => cancel?.());
  return kill;
};

/** A comma or brace must follow the ID, so that an incomplete one is not read. */
const CHILD_PID = /"child-pid": (\d+)\D/;

const killProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes(errorCode(error))) throw error;
  }
};
