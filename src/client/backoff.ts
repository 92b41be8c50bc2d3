const LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
/** A try costs nothing there, and the daemon is to be found again within a second. */
const LOCAL_PAUSE_MS = 400;

/**
 * Pauses before each try to come back, in milliseconds, without jitter; longest last. A daemon on
 * this machine is asked more often, and for as long.
 */
export const pausesOf = (url: string): readonly number[] => {
  if (!LOCAL.test(new URL(url).hostname)) return PAUSES_MS;
  const whole = PAUSES_MS.reduce((sum, ms) => sum + ms, 0);
  return Array.from({ length: Math.ceil(whole / LOCAL_PAUSE_MS) }, () => LOCAL_PAUSE_MS);
};

/** The pause after so many failures in a row, with jitter of a quarter. */
export const pauseAfter = (url: string, failures: number): number => {
  const pauses = pausesOf(url);
  const ms = pauses[Math.min(failures, pauses.length - 1)] ?? 0;
  return ms * (0.75 + Math.random() / 2);
};
