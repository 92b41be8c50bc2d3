import type { Queue } from '../jobs/module.js';
import type { Clock } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import type { Statement } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { HookRow } from '../store/tables/hooks.js';
import type { HookTest } from './contract.js';
import type { HooksStore } from './queries.js';
import { type FiringDeps, refuseFiring } from './refusals.js';
import { testDelivery } from './trials.js';

export interface OwnRunsDeps {
  store: Store;
  clock: Clock;
  queue: Queue;
  hooks: Pick<HooksStore, 'get' | 'grantedTools'>;
}

/** Runs of a hook that another module starts for the hook's owner. */
export interface OwnRuns {
  find(userId: string, hookId: string): Promise<HookRow | undefined>;
  /** Throws a 403 if the caller may not fire the hook. */
  refuse(grants: FiringDeps['grants'], by: Caller, hook: HookRow): Promise<void>;
  /** Builds the statements that fire the hook with a payload, and what to do after their commit. */
  prepare(
    hook: HookRow,
    given: HookTest,
  ): { executionId: string; statements: Statement[]; committed(): void };
}

/** Creates the runs of hooks that other modules start. */
export const createOwnRuns = ({ store, clock, queue, hooks }: OwnRunsDeps): OwnRuns => ({
  find: hooks.get,
  refuse: (grants, by, hook) => refuseFiring({ grants, hooks, clock }, by, hook),
  prepare: (hook, given) => {
    const { execution, statements } = testDelivery({ store, clock }, hook, given);
    return { executionId: execution.id, statements, committed: () => queue.added(hook.id) };
  },
});
