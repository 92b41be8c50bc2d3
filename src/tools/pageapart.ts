import { createTurns } from '../kernel/fairqueue.js';
import { TaskOverran } from '../kernel/pool.js';
import { inThread } from '../kernel/threadtask.js';
import { type PageSource, type PageText, textOfPage } from './page.js';
import { type ToolContext, ToolFailed } from './tool.js';

/** Ours: the most bytes of a page that are read on the event loop; the worst take some 50 ms. */
const MOST_HERE = 128 * 1024;
/** Ours: two threads at once, and one for each user, because each of them holds a page twice. */
const threads = createTurns({ atOnce: 2, each: 1, waiting: Number.POSITIVE_INFINITY });
/** Ours: the worst pages of 5 MiB that were measured take some 3 s on a slow machine. */
const LIMIT_MS = 10_000;
/** Ours: the worst pages of 5 MiB that were measured take under 256. */
const HEAP_MB = 512;
const FILE = new URL('./pagethread.js', import.meta.url);

/**
 * Returns the text of a page as `textOfPage` does, that of a large page in a separate thread.
 * Throws ToolFailed if the page takes too much time or memory, and the reason of the signal as soon
 * as it is aborted.
 */
export const textOfPageApart = async (
  page: PageSource,
  { userId, signal }: Pick<ToolContext, 'userId' | 'signal'>,
  limitMs = LIMIT_MS,
): Promise<PageText> => {
  if (page.body.byteLength <= MOST_HERE) return textOfPage(page);
  const failure = `${page.url} is too complex to be read`;
  const task = { file: FILE, input: page, limitMs, heapMb: HEAP_MB, signal, failure };
  try {
    return await untilAborted(
      threads.take(userId, () => inThread<PageText>(task)),
      signal,
    );
  } catch (error) {
    if (error instanceof TaskOverran) throw new ToolFailed(failure, false, error);
    throw error;
  }
};

/** Waits for work, at most until the signal is aborted. The work may still be waiting for its turn. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
