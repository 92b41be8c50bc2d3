const LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
/**
 * The pause for a local daemon: a try costs nothing, and the daemon must be found within a second.
 */
const LOCAL_PAUSE_MS = 400;

/**
 * Returns the pauses before each try to reconnect, in milliseconds, without jitter, the longest
 * last. A daemon on this machine is tried more often, over the same total time.
 */
export const pausesOf = (url: string): readonly number[] => {
  if (!LOCAL.test(new URL(url).hostname)) return PAUSES_MS;
  const whole = PAUSES_MS.reduce((sum, ms) => sum + ms, 0);
  return Array.from({ length: Math.ceil(whole / LOCAL_PAUSE_MS) }, () => LOCAL_PAUSE_MS);
};

/**
 * Returns the pause after this number of failures in a row, in milliseconds, with a jitter of 25 %.
 */
export const pauseAfter = (url: string, failures: number): number => {
  const pauses = pausesOf(url);
  const ms = pauses[Math.min(failures, pauses.length - 1)] ?? 0;
  return ms * (0.75 + Math.random() / 2);
};
