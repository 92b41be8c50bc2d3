/** The time between two checks of the load. */
const LOOK_MS = 500;
/** The share of the event loop's time under which nothing waits for current work. */
const BUSY = 0.1;

/**
 * Frees unused memory of this thread once its event loop has little to do, and then never again.
 * Returns a function that cancels it.
 */
export const releaseWhenIdle = (failed: (error: unknown) => void): (() => void) => {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > BUSY) return;
    clearInterval(timer);
    release().catch(failed);
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
};

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
