import { createTurns } from '../../kernel/fairqueue.js';
import { TaskOverran } from '../../kernel/pool.js';
import { inThread } from '../../kernel/threadtask.js';
import { type PageSource, type PageText, PageUnreadable, type PageWish } from './page.js';
import type { PageOutcome, PageTask } from './thread.js';

/** Ours: two threads at once, and one for each user, because each of them holds a page twice. */
const threads = createTurns({ atOnce: 2, each: 1, waiting: Number.POSITIVE_INFINITY });
/** Ours: the worst pages of 10 MiB that were measured take some 10 s of a slow processor. */
const LIMIT_MS = 30_000;
const HEAP_MB = 768;
const FILE = new URL('./thread.js', import.meta.url);

/** The person for whom a page is read, and for how long. */
interface PageReader {
  userId: string;
  signal: AbortSignal;
  limitMs?: number;
}

/** Reads a page; `readPageApart` is one. */
export type ReadPage = (
  source: PageSource,
  wish: PageWish,
  reader: PageReader,
) => Promise<PageText>;

/**
 * Reads a page in a separate thread, within limits of time and memory. Throws PageUnreadable, and
 * the reason of the signal as soon as it is aborted.
 */
export const readPageApart: ReadPage = async (
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
    if (error instanceof TaskOverran) throw new PageUnreadable(failure);
    throw error;
  });
  if ('page' in outcome) return outcome.page;
  throw new PageUnreadable(outcome.unreadable, outcome.kind);
};

/** Waits for work, at most until the signal is aborted. The work may still wait for its turn. */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
