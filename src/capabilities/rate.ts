/** Averaging period. */
const RATE_MS = 5000;

export const createByteRate = () => {
  const arrivals: { at: number; bytes: number }[] = [];
  return (bytes: number): number => {
    const now = performance.now();
    const last = arrivals.at(-1);
    // Merged, so that few samples are kept.
    if (last && now - last.at < 100) last.bytes += bytes;
    else arrivals.push({ at: now, bytes });
    while ((arrivals[0]?.at ?? now) < now - RATE_MS) arrivals.shift();
    const since = Math.max(250, now - (arrivals[0]?.at ?? now));
    return Math.round((arrivals.reduce((sum, each) => sum + each.bytes, 0) * 1000) / since);
  };
};
