import { createFairQueue } from '../../kernel/fairqueue.js';
import { TaskLimitExceeded } from '../../kernel/pool.js';
import { inThread } from '../../kernel/threadtask.js';
import { type PageReadOptions, type PageSource, type PageText, PageUnreadable } from './page.js';
import type { PageOutcome, PageTask } from './thread.js';

/** Two threads at the same time, one per user, because each holds a page twice in memory. */
const threads = createFairQueue({ atOnce: 2, each: 1, waiting: Number.POSITIVE_INFINITY });
/** The slowest measured pages of 10 MiB take about 10 s on a slow processor. */
const LIMIT_MS = 30_000;
const HEAP_MB = 768;
const FILE = new URL('./thread.js', import.meta.url);

interface PageReader {
  userId: string;
  signal: AbortSignal;
  limitMs?: number;
}

export type ReadPage = (
  source: PageSource,
  wish: PageReadOptions,
  reader: PageReader,
) => Promise<PageText>;

/**
 * Runs in a thread with limits for time and memory. Throws PageUnreadable, or the reason of the
 * signal as soon as it is aborted.
 */
export const readPageInWorker: ReadPage = async (
  source,
  wish,
  { userId, signal, limitMs = LIMIT_MS },
) => {
  const input: PageTask = { source, wish };
  const failure = 'is too complex to read';
  const task = { file: FILE, input, limitMs, heapMb: HEAP_MB, signal, failure };
  const outcome = await untilAborted(
    threads.take(userId, () => inThread<PageOutcome>(task)),
    signal,
  ).catch((error: unknown) => {
    if (error instanceof TaskLimitExceeded) throw new PageUnreadable(failure);
    throw error;
  });
  if ('page' in outcome) return outcome.page;
  throw new PageUnreadable(outcome.unreadable, outcome.kind);
};

/** The work may continue after an abort. */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
