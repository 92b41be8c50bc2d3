const LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const PAUSES_MS = [500, 1000, 2000, 4000, 8000];
/** A local attempt is cheap, and the daemon must be found within a second. */
const LOCAL_PAUSE_MS = 400;

/**
 * Pauses before reconnection attempts in milliseconds, without jitter, longest last. Local daemons
 * are tried more often over the same total time.
 */
export const computeReconnectPauses = (url: string): readonly number[] => {
  if (!LOCAL.test(new URL(url).hostname)) return PAUSES_MS;
  const whole = PAUSES_MS.reduce((sum, ms) => sum + ms, 0);
  return Array.from({ length: Math.ceil(whole / LOCAL_PAUSE_MS) }, () => LOCAL_PAUSE_MS);
};

/** With 25 % jitter. */
export const pauseAfter = (url: string, failures: number): number => {
  const pauses = computeReconnectPauses(url);
  const ms = pauses[Math.min(failures, pauses.length - 1)] ?? 0;
  return ms * (0.75 + Math.random() / 2);
};
