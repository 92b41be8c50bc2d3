import { iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import { type DecidingDeps, expire } from './decide.js';

export interface Expiry extends Watch {
  /** Ends what is over now. */
  tick(): Promise<void>;
}

const TICK_MS = 1000;
const BATCH = 100;

/** Approvals end by the clock, whether or not the daemon ran meanwhile: no answer is a denial. */
export const createExpiry = (deps: DecidingDeps & { log: Log }): Expiry => {
  const { approvals, clock, log } = deps;

  const tick = async (): Promise<void> => {
    for (const row of await approvals.due(iso(clock.now()), BATCH)) await expire(deps, row);
  };

  const failed = (err: unknown): void => log.error({ err }, 'expired approvals could not be ended');

  return { tick, ...createWatch({ everyMs: TICK_MS, look: tick, failed }) };
};
