import { getHeapStatistics } from 'node:v8';

/** The time between two checks of the load until the first release, in milliseconds. */
const FIRST_LOOK_MS = 500;
/** Ours: the time between two checks after it. */
const LOOK_MS = 30_000;
/** The share of the event loop's time under which nothing waits for current work. */
const BUSY = 0.1;
/** Ours: memory is freed again when the heap has grown by so much since. */
const GROWN_BYTES = 4 * 1024 * 1024;

/**
 * Frees unused memory of this thread once its event loop has little to do after the start, and
 * again whenever it has little to do after work that made the heap grow. Returns a function that
 * cancels it.
 */
export const releaseWhenIdle = (failed: (error: unknown) => void): (() => void) => {
  let before = performance.eventLoopUtilization();
  let heap = 0;
  let isCancelled = false;
  let timer: NodeJS.Timeout | undefined;

  const look = async (): Promise<void> => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > BUSY || heapBytes() - heap < GROWN_BYTES) return;
    await release();
    heap = heapBytes();
  };
  const lookAfter = (ms: number): void => {
    if (isCancelled) return;
    timer = setTimeout(() => {
      look()
        .catch(failed)
        .finally(() => lookAfter(heap === 0 ? FIRST_LOOK_MS : LOOK_MS));
    }, ms).unref();
  };
  lookAfter(FIRST_LOOK_MS);
  return () => {
    isCancelled = true;
    clearTimeout(timer);
  };
};

/** The memory that V8 holds for this thread, used or not. */
const heapBytes = (): number => getHeapStatistics().total_heap_size;

/**
 * Frees unused memory. Loading a program makes V8's young generation grow to 32 MB, of which an
 * idle one needs two, and leaves gaps in the old one. V8 does not give either back by itself. The
 * young generation grows again with the work. This is the only documented way to report low memory
 * (Chrome DevTools Protocol, HeapProfiler). It stops the event loop for about 80 ms. A Node without
 * an inspector frees nothing.
 */
export const release = async (): Promise<void> => {
  if (!process.features.inspector) return;
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise<void>((resolve) => {
    session.post('HeapProfiler.collectGarbage', () => resolve());
  });
  session.disconnect();
};
