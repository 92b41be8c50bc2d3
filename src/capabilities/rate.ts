/** Ours: a rate is that of so many milliseconds. */
const RATE_MS = 5000;

/** Creates a function that takes bytes as they come, and returns their rate of the last seconds. */
export const createByteRate = () => {
  const arrivals: { at: number; bytes: number }[] = [];
  return (bytes: number): number => {
    const now = performance.now();
    const last = arrivals.at(-1);
    // Joined, so that few are kept however small the pieces are.
    if (last && now - last.at < 100) last.bytes += bytes;
    else arrivals.push({ at: now, bytes });
    while ((arrivals[0]?.at ?? now) < now - RATE_MS) arrivals.shift();
    const since = Math.max(250, now - (arrivals[0]?.at ?? now));
    return Math.round((arrivals.reduce((sum, each) => sum + each.bytes, 0) * 1000) / since);
  };
};
