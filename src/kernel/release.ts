import { getHeapStatistics } from 'node:v8';
import { type Cancel, systemClock } from './clock.js';

const FIRST_LOOK_MS = 500;
const LOOK_MS = 30_000;
/** Share of the event loop's time below which it counts as idle. */
const BUSY = 0.1;
const GROWN_BYTES = 4 * 1024 * 1024;

export const releaseWhenIdle = (failed: (error: unknown) => void): (() => void) => {
  let before = performance.eventLoopUtilization();
  let heap = 0;
  let isCancelled = false;
  let cancel: Cancel | undefined;

  const look = async (): Promise<void> => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > BUSY || heapBytes() - heap < GROWN_BYTES) return;
    await release();
    heap = heapBytes();
  };
  const lookAfter = (ms: number): void => {
    if (isCancelled) return;
    const due = (): void => {
      look()
        .catch(failed)
        .finally(() => lookAfter(heap === 0 ? FIRST_LOOK_MS : LOOK_MS));
    };
    cancel = systemClock.after(ms, due, { ref: false });
  };
  lookAfter(FIRST_LOOK_MS);
  return () => {
    isCancelled = true;
    cancel?.();
  };
};

const heapBytes = (): number => getHeapStatistics().total_heap_size;

/**
 * Loading a program grows V8's young generation to 32 MB and fragments the old one; V8 returns
 * neither by itself. Reports low memory (Chrome DevTools Protocol, HeapProfiler), which blocks the
 * event loop for about 80 ms. Does nothing without an inspector.
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
