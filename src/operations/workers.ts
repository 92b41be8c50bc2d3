import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NamedError } from '../kernel/failure.js';
import { createTurns } from '../kernel/fairqueue.js';
import { makePrivateFolder } from '../kernel/private.js';
import type { ConfinedProcess, Confinement } from '../providers/confine/confinement.js';
import { holdWorker } from '../providers/confine/ownprogram.js';
import { unconfined } from '../providers/confine/unconfined.js';
import { type CoreSources, usableCores } from '../providers/hardware/cores.js';

/** The error of a worker process that ended, or fell silent, before its last line. */
export class WorkerFailed extends NamedError {}

/** One run of a program of ours in a process of its own. */
export interface WorkerTask<Line> {
  userId: string;
  /** The script. It reads its input as JSON from its standard input, and writes lines of JSON. */
  script: URL;
  input: unknown;
  /** Absolute paths that it may read beside its own code. */
  readable: string[];
  /** The packages that it loads, whose folders it may read. */
  packages: string[];
  /** The most bytes of its memory; as little as others have unless given. */
  memoryBytes?: number;
  /** True: it writes its lines to descriptor 3, and what it prints is a remark. */
  speaksApart?: boolean;
  /** The longest time without a line, in milliseconds. After it the process is killed. */
  silenceMs: number;
  signal: AbortSignal;
  /** Takes a line, as the script writes it; the next one waits. Returns true at the last line. */
  take(line: Line): Promise<boolean>;
  /** Takes what the process has left in its folder, after its last line; the rest is removed. */
  keep?(folder: string): Promise<void>;
}

/** The processes of heavy work. */
export interface Workers {
  /**
   * Runs a task when it is its user's turn, and resolves after its last line. The process is
   * confined as tools are, has no network and a low priority. Throws WorkerFailed, or the reason of
   * the signal.
   */
  run<Line>(task: WorkerTask<Line>): Promise<void>;
}

const MAX_LINE_LENGTH = 16 * 1024 * 1024;

interface WorkersOptions {
  /** The folder for the files of workers, removed with each. */
  folder: string;
  /** null: no confinement works here, and workers run without one. */
  confinement: Confinement | null;
  /** The number of processes at once; 0: one less than the cores that may be used. */
  atOnce: number;
}

/** Opens the pool of worker processes. Turns are shared among the users. */
export const openWorkers = ({ folder, confinement, atOnce }: WorkersOptions): Workers => {
  const turns = createTurns({
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

/** Returns the number of processes at once: the one that is set, else one less than the usable cores. */
export const workersAtOnce = (atOnce: number, cores?: CoreSources): number =>
  atOnce || Math.max(1, usableCores(cores) - 1);

const start = async (
  confinement: Confinement,
  task: Omit<WorkerTask<unknown>, 'take' | 'keep'>,
  folder: string,
): Promise<ConfinedProcess> => {
  const held = await holdWorker(confinement, task, folder);
  held.stdin.end(JSON.stringify(task.input));
  return held;
};

/** Reads the lines of a process to the last one. The process has ended when this settles. */
const converse = async <Line>(held: ConfinedProcess, task: WorkerTask<Line>): Promise<void> => {
  const { signal, silenceMs } = task;
  let silence: NodeJS.Timeout | undefined;
  let isSilent = false;
  const listen = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => {
      isSilent = true;
      held.kill();
    }, silenceMs);
  };
  signal.addEventListener('abort', held.kill);
  const lines = createInterface({ input: held.stdout });
  // The output has no end of its own where another process still holds it.
  void held.ended.then(() => lines.close());
  try {
    listen();
    for await (const line of lines) {
      if (line.length > MAX_LINE_LENGTH) throw new WorkerFailed('it wrote too much at once');
      clearTimeout(silence);
      if (await task.take(parsed(line))) return;
      listen();
    }
    signal.throwIfAborted();
    throw new WorkerFailed(isSilent ? 'it took too long' : await held.ended);
  } finally {
    clearTimeout(silence);
    signal.removeEventListener('abort', held.kill);
    held.kill();
    await held.ended;
  }
};

const parsed = (line: string) => {
  try {
    return JSON.parse(line);
  } catch {
    throw new WorkerFailed('it wrote a line that is no JSON');
  }
};
