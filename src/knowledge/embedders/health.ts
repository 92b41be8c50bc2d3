/** Time for which a successful call proves that the embedder works. */
const FRESH_MS = 60_000;

export const createHealthRecord = () => {
  const failures = new Map<string, { at: number; message: string }>();
  const successes = new Map<string, number>();
  return {
    worked: (key: string): void => {
      failures.delete(key);
      successes.set(key, performance.now());
    },
    failed: (key: string, message: string): void => {
      successes.delete(key);
      failures.set(key, { at: performance.now(), message });
    },
    failure: (key: string, withinMs: number): string | null => {
      const last = failures.get(key);
      return last && performance.now() - last.at < withinMs ? last.message : null;
    },
    isFresh: (key: string): boolean =>
      performance.now() - (successes.get(key) ?? Number.NEGATIVE_INFINITY) < FRESH_MS,
  };
};

export type HealthRecord = ReturnType<typeof createHealthRecord>;
