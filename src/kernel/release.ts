/** How often it is looked whether there is little to do. */
const LOOK_MS = 500;
/** Of the event loop's time: below, nobody waits for what is done now. */
const BUSY = 0.1;

/**
 * Gives the memory of this thread back once its event loop has little to do, and then never again.
 * Returns what ends the waiting for that.
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
 * Loading a program makes V8's young generation grow to 32 MB, of which an idle one needs two, and
 * leaves gaps in the old one; left to itself V8 keeps both. It grows again with the work. This is the
 * one documented way to say that memory is low (Chrome DevTools Protocol, HeapProfiler); it stops
 * the event loop for some 80 ms. A Node without an inspector keeps what it has.
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
