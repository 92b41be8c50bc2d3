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

export interface ManualRuns {
  find(userId: string, hookId: string): Promise<HookRow | undefined>;
  refuse(grants: FiringDeps['grants'], by: Caller, hook: HookRow): Promise<void>;
  /** Returns the statements, and what to do after the commit. */
  prepare(
    hook: HookRow,
    given: HookTest,
  ): { executionId: string; statements: Statement[]; committed(): void };
}

export const createOwnRuns = ({ store, clock, queue, hooks }: OwnRunsDeps): ManualRuns => ({
  find: hooks.get,
  refuse: (grants, by, hook) => refuseFiring({ grants, hooks, clock }, by, hook),
  prepare: (hook, given) => {
    const { execution, statements } = testDelivery({ store, clock }, hook, given);
    return { executionId: execution.id, statements, committed: () => queue.added(hook.id) };
  },
});
