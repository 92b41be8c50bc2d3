const MINUTE_MS = 60_000;
/** Ours: the most webhooks whose last message is remembered; above it all that have rested go. */
const MOST = 10_000;

/**
 * Creates the times at which webhooks with a rate may get their next message. They are lost when the
 * process ends. `now` returns milliseconds of a monotonic clock.
 */
export const createRates = (now = (): number => performance.now()) => {
  const next = new Map<string, number>();

  const forgetRested = (at: number): void => {
    for (const [id, due] of next) if (due <= at) next.delete(id);
  };

  return {
    /**
     * Takes the turn of a webhook's next message. Returns the milliseconds until the one after it, or
     * as a negative number those until this one, whose turn has not come.
     */
    take: (id: string, perMinute: number): number => {
      const at = now();
      const everyMs = MINUTE_MS / perMinute;
      const leftMs = Math.min((next.get(id) ?? 0) - at, everyMs);
      if (leftMs > 0) return -leftMs;
      if (next.size >= MOST) forgetRested(at);
      next.set(id, at + everyMs);
      return everyMs;
    },
  };
};

export type Rates = ReturnType<typeof createRates>;
