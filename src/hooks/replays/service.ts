import type { Queue } from '../../jobs/module.js';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Recorder } from '../../kernel/contract/audit.js';
import { type Caller, CustomReply } from '../../kernel/contract/endpoint.js';
import type { Operation, OperationPreview } from '../../kernel/contract/operation.js';
import { mint } from '../../kernel/ids.js';
import {
  buildOperationPreview,
  lanesIn,
  type OperationBeginner,
  type OperationKind,
  SHOWN_ITEMS,
  type WalkCheckpoint,
  walkLanes,
} from '../../operations/module.js';
import type { GrantRule } from '../../permissions/module.js';
import type { Store } from '../../store/store.js';
import type { HooksStore } from '../queries.js';
import { refuseFiring } from '../refusals.js';
import type { FailedRunsReplay } from './contract.js';
import { type FailureFilter, type FailuresStore, replaySteps } from './queries.js';

interface ReplaysDeps {
  clock: Clock;
  queue: Pick<Queue, 'added' | 'waiting'>;
  failures: FailuresStore;
}

export interface ReplayFailuresDeps {
  store: Store;
  clock: Clock;
  failures: FailuresStore;
  hooks: Pick<HooksStore, 'grantedTools'>;
  grants: GrantRule;
  replays: OperationBeginner<ReplayInput>;
}

export interface ReplayInput {
  filter: FailureFilter;
  /** Hooks that the caller may fire. Others are left out. */
  hookIds: string[];
  total: number;
}

export const replayOperation = ({
  clock,
  queue,
  failures,
}: ReplaysDeps): OperationKind<ReplayInput, WalkCheckpoint> => ({
  kind: 'hooks.replay',
  isResumable: true,
  isAdmins: false,
  run: async (run) => {
    const { filter, hookIds, total } = run.input;
    return walkLanes(
      {
        lanes: hookIds,
        waiting: queue.waiting,
        next: async (hookId, after, limit) => {
          const found = await failures.after(filter, hookId, { after, limit });
          const now = clock.now();
          return found.map(({ id, reason }) => ({
            id,
            todo:
              reason === null
                ? { steps: replaySteps(id, mint('execution', now), iso(now)) }
                : { skip: reason },
          }));
        },
        added: queue.added,
        unit: 'runs',
        verb: 'replayed',
        total,
      },
      run,
    );
  },
});

export const replayFailures = async (
  deps: ReplayFailuresDeps,
  given: FailedRunsReplay,
  by: Caller & Recorder,
): Promise<Operation | CustomReply<OperationPreview>> => {
  const { store, clock, failures, replays } = deps;
  const { hookId, dryRun } = given;
  const filter = buildFailureFilter(deps, given, by.userId);
  const counts = await failures.count(filter);
  const hookIds = lanesIn(counts);
  const hooks = await failures.hooks(by.userId, hookIds);
  for (const hook of hooks) await refuseFiring(deps, by, hook);
  const listedAt = iso(clock.now());
  const { count } = buildOperationPreview(counts, { items: [], listedAt });
  const { status, since, until, force } = filter;
  const noted = { ...(hookId && { hookId }), status, since, until, force, count };
  const recorded = (data: object) => by.record({ data: { ...noted, ...data } });
  if (dryRun) {
    await store.transact([recorded({ dryRun })]);
    const items = await failures.first(filter, SHOWN_ITEMS);
    return new CustomReply(200, buildOperationPreview(counts, { items, listedAt }));
  }
  const [only] = hookId ? hooks : [];
  return replays.begin(
    {
      userId: by.userId,
      resource: hookId ? { kind: 'hook', id: hookId } : { kind: 'user', id: by.userId },
      title: `Replay of failed executions${only ? ` of ${only.name}` : ''}`,
      input: { filter, hookIds, total: count },
      progress: { total: count, unit: 'runs' },
    },
    [recorded({})],
  );
};

const buildFailureFilter = (
  { clock }: { clock: Clock },
  { hookId, status = ['error', 'interrupted'], since, until, failedBy, force }: FailedRunsReplay,
  userId: string,
): FailureFilter => ({
  userId,
  hookId: hookId ?? null,
  status,
  since,
  until: until ?? null,
  failedBy: failedBy ?? iso(clock.now()),
  before: mint('execution', clock.now()),
  force: force === true,
});
