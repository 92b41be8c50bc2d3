const EVERY_MS = 5;

/**
 * Watches how long the event loop stands still. Counts what this process computed meanwhile and
 * not what it waited for a processor, so that a busy machine does not fail a test.
 */
export const watchLoop = (): { stop(): number } => {
  let longest = 0;
  let since = performance.now();
  let used = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(used);
    const stoodMs = performance.now() - since - EVERY_MS;
    longest = Math.max(longest, Math.min(stoodMs, (user + system) / 1000));
    since = performance.now();
    used = process.cpuUsage();
  }, EVERY_MS);
  return {
    /** Ends it; the longest time in milliseconds. */
    stop: () => {
      clearInterval(timer);
      return longest;
    },
  };
};
