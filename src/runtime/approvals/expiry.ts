import { iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { type DecidingDeps, expire } from './deciding.js';

export interface Expiry {
  start(): void;
  stop(): void;
  /** Ends what is over now. */
  tick(): Promise<void>;
}

const TICK_MS = 1000;
const BATCH = 100;

/** Approvals end by the clock, whether or not the daemon ran meanwhile: no answer is a denial. */
export const createExpiry = (deps: DecidingDeps & { log: Log }): Expiry => {
  const { approvals, clock, log } = deps;
  let timer: NodeJS.Timeout | null = null;

  const tick = async (): Promise<void> => {
    for (const row of await approvals.due(iso(clock.now()), BATCH)) await expire(deps, row);
  };

  const turn = (): void => {
    tick()
      .catch((error) => log.error({ err: error }, 'expired approvals could not be ended'))
      .finally(() => {
        if (timer) timer = setTimeout(turn, TICK_MS);
      });
  };

  return {
    tick,
    start: () => {
      timer = setTimeout(turn, 0);
    },
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
};
