import type { Clock } from '../kernel/clock.js';

const MINUTE_MS = 60_000;
/** Above this, idle webhooks are forgotten. */
const MAX_REMEMBERED_WEBHOOKS = 10_000;

/** Lost on restart. */
export const createRates = ({ now }: Pick<Clock, 'now'>) => {
  const next = new Map<string, number>();

  const forgetRested = (at: number): void => {
    for (const [id, due] of next) if (due <= at) next.delete(id);
  };

  return {
    /**
     * Returns the milliseconds until the next message, or as a negative number until this one is
     * due.
     */
    take: (id: string, perMinute: number): number => {
      const at = now();
      const everyMs = MINUTE_MS / perMinute;
      const leftMs = Math.min((next.get(id) ?? 0) - at, everyMs);
      if (leftMs > 0) return -leftMs;
      if (next.size >= MAX_REMEMBERED_WEBHOOKS) forgetRested(at);
      next.set(id, at + everyMs);
      return everyMs;
    },
  };
};

export type Rates = ReturnType<typeof createRates>;
