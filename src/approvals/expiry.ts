import { iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { createWatch, type Watch } from '../kernel/watch.js';
import { type DecidingDeps, expire } from './decide.js';

export interface Expiry extends Watch {
  /** Denies all approvals whose time is over now. */
  tick(): Promise<void>;
}

const TICK_MS = 1000;
const BATCH = 100;

/**
 * Creates the timer that ends approvals by the clock, even those that ran out while the daemon was
 * stopped. An approval without a decision is denied.
 */
export const createExpiry = (deps: DecidingDeps & { log: Log }): Expiry => {
  const { approvals, clock, log } = deps;

  const tick = async (): Promise<void> => {
    for (const row of await approvals.due(iso(clock.now()), BATCH)) await expire(deps, row);
  };

  const failed = (err: unknown): void => log.error({ err }, 'expired approvals could not be ended');

  return { tick, ...createWatch({ everyMs: TICK_MS, look: tick, failed }) };
};
