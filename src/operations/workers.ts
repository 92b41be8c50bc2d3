import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Cancel, systemClock } from '../kernel/clock.js';
import { NamedError } from '../kernel/failure.js';
import { createFairQueue } from '../kernel/fairqueue.js';
import { makePrivateFolder } from '../kernel/private.js';
import type { ConfinedProcess, Confinement } from '../providers/confine/confinement.js';
import { unconfined } from '../providers/confine/unconfined.js';
import { startConfinedWorker } from '../providers/confine/workerprogram.js';
import { type CoreSources, usableCores } from '../providers/hardware/cores.js';

/** The worker process ended, or was silent for too long, before its last line. */
export class WorkerFailed extends NamedError {
  constructor(message: string) {
    super(message.slice(0, MAX_REASON_LENGTH));
  }
}

/** A process may write anything. */
const MAX_REASON_LENGTH = 1000;

/** Too slow, for example because the machine is busy. */
export class WorkerSilent extends WorkerFailed {
  constructor() {
    super('it sent no output in time');
  }
}

/** One run of a program of the package in a separate process. */
export interface WorkerTask<Line> {
  userId: string;
  /** The script reads its input as JSON from stdin and writes lines of JSON. */
  script: URL;
  input: unknown;
  /** Absolute paths that the script may read besides its own code. */
  readable: string[];
  /** Packages whose folders the script may read. */
  packages: string[];
  /** Maximum memory in bytes. Defaults to the usual limit. */
  memoryBytes?: number;
  /** True: lines are written to descriptor 3, and stdout is diagnostic output. */
  speaksApart?: boolean;
  /** Maximum time without a line, in milliseconds. The process is killed after it. */
  silenceMs: number;
  signal: AbortSignal;
  /** Takes a line; the next one waits. Returns true for the last line. */
  take(line: Line): Promise<boolean>;
  /** Called after the last line, before the folder of the process is removed. */
  keep?(folder: string): Promise<void>;
}

export interface Workers {
  /**
   * Runs the task when it is the user's turn; resolves after its last line. The process is confined
   * like tools, without network and with low priority. Throws WorkerFailed or the signal's reason.
   */
  run<Line>(task: WorkerTask<Line>): Promise<void>;
}

const MAX_LINE_LENGTH = 16 * 1024 * 1024;

interface WorkersOptions {
  /** Folder for the files of workers, which are removed afterwards. */
  folder: string;
  /** Null if no confinement works on this machine; workers run unconfined then. */
  confinement: Confinement | null;
  /** Maximum number of processes; 0 for one less than the usable cores. */
  atOnce: number;
}

export const openWorkers = ({ folder, confinement, atOnce }: WorkersOptions): Workers => {
  const turns = createFairQueue({
    atOnce: workersAtOnce(atOnce),
    waiting: Number.POSITIVE_INFINITY,
    isOldestFirst: true,
  });
  const confine = confinement ?? unconfined();
  return {
    run: (task) =>
      turns.take(task.userId, async () => {
        task.signal.throwIfAborted();
        makePrivateFolder(folder);
        const own = await mkdtemp(join(folder, 'worker-'));
        try {
          await converse(await start(confine, task, own), task);
          await task.keep?.(own);
        } finally {
          await rm(own, { recursive: true, force: true });
        }
      }),
  };
};

/** See `WorkersOptions.atOnce`. */
export const workersAtOnce = (atOnce: number, cores?: CoreSources): number =>
  atOnce || Math.max(1, usableCores(cores) - 1);

const start = async (
  confinement: Confinement,
  task: Omit<WorkerTask<unknown>, 'take' | 'keep'>,
  folder: string,
): Promise<ConfinedProcess> => {
  const held = await startConfinedWorker(confinement, task, folder);
  held.stdin.end(JSON.stringify(task.input));
  return held;
};

/** The process has ended when this settles. */
const converse = async <Line>(held: ConfinedProcess, task: WorkerTask<Line>): Promise<void> => {
  const { signal, silenceMs } = task;
  let endSilence: Cancel = () => undefined;
  let isSilent = false;
  const listen = (): void => {
    endSilence();
    endSilence = systemClock.after(silenceMs, () => {
      isSilent = true;
      held.kill();
    });
  };
  signal.addEventListener('abort', held.kill);
  const lines = createInterface({ input: held.stdout });
  // The output does not end while another process has it open.
  void held.ended.then(() => lines.close());
  try {
    listen();
    for await (const line of lines) {
      if (line.length > MAX_LINE_LENGTH) throw new WorkerFailed('a line of the output is too long');
      endSilence();
      if (await task.take(parsed(line))) return;
      listen();
    }
    signal.throwIfAborted();
    throw isSilent ? new WorkerSilent() : new WorkerFailed(await held.ended);
  } finally {
    endSilence();
    signal.removeEventListener('abort', held.kill);
    held.kill();
    await held.ended;
  }
};

const parsed = (line: string) => {
  try {
    return JSON.parse(line);
  } catch {
    throw new WorkerFailed('a line of the output is not valid JSON');
  }
};
