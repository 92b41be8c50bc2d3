import type { Job, JobHandler } from '../jobs/module.js';
import { TaskLimitExceeded } from '../kernel/pool.js';
import { ExpectationFailed } from '../store/engine/protocol.js';
import { statement } from '../store/store.js';
import { type ActionDeps, actions } from './actions.js';
import { createBatchExecutor, PAYLOAD_TOO_COSTLY } from './batch.js';
import { endRun } from './outcome.js';
import { createHookRun, type HookRun, isUnderway, loadRun } from './run.js';
import {
  buildAdmission,
  findEarlyEnd,
  formatAdmissionRefusals,
  isAdmittedAtSpawn,
  isFirst,
  type Stopped,
  skipped,
} from './stops.js';

export const EXECUTION_JOB = 'execution';

export const createExecutor = (deps: ActionDeps): JobHandler => {
  const { store } = deps;

  const run = async (job: Job, signal: AbortSignal): Promise<Job | null> => {
    const found = job.loaded ? createHookRun(job.loaded) : await loadRun(store, job.ref);
    if (!isUnderway(found)) return drop(job);
    const stopped = (await findEarlyEnd(deps, found)) ?? (await whyRefused(deps, found));
    if (stopped) return endRun(deps, found, stopped);
    return actions[found.hook.action](deps, found, job, signal);
  };

  const drop = async ({ ref }: Job): Promise<null> => {
    const over = store.db.updateTable('executions').set({ run_at: null, boot: null });
    await store.transact([statement(over.where('id', '=', ref))]);
    return null;
  };

  const end = async (job: Job, error: string): Promise<null> => {
    const found = await loadRun(store, job.ref);
    return isUnderway(found) ? endRun(deps, found, { status: 'error', error }) : drop(job);
  };

  return {
    run: async (job, signal) => {
      try {
        return await run(job, signal);
      } catch (error) {
        if (error instanceof TaskLimitExceeded)
          return end(job, `${PAYLOAD_TOO_COSTLY} ${error.message}`);
        // The hook was deleted, or its execution ended, during the action.
        const isOver =
          error instanceof ExpectationFailed && !isUnderway(await loadRun(store, job.ref));
        if (isOver) return drop(job);
        throw error;
      }
    },
    abandon: async (job, error) => void (await end(job, error.message)),
    runBatch: createBatchExecutor(deps),
    rows: executionRows(deps),
  };
};

const executionRows = ({ store: { db } }: ActionDeps): JobHandler['rows'] => ({
  free: async () => {
    await db.updateTable('executions').set({ boot: null }).where('boot', 'is not', null).execute();
    return db
      .selectFrom('executions')
      .select((of) => ['hook_id as lane', of.fn.countAll<number>().as('count')])
      .where('run_at', 'is not', null)
      .where('boot', 'is', null)
      .groupBy('hook_id')
      .execute();
  },
  release: ({ ref, attempts }, runAt) =>
    statement(
      db
        .updateTable('executions')
        .set({ boot: null, run_at: runAt, attempts })
        .where('id', '=', ref)
        .where('run_at', 'is not', null),
    ),
});

const whyRefused = async (deps: ActionDeps, run: HookRun): Promise<Stopped | null> => {
  if (!isFirst(run) || isAdmittedAtSpawn(run)) return null;
  const { admission, publishedLast } = buildAdmission(deps, run, deps.clock.now());
  const executionId = run.execution.id;
  const admitted = await deps.store.call('admitExecution', { executionId, ...admission });
  if (admitted === 'last') publishedLast();
  return admitted === 'go' || admitted === 'last'
    ? null
    : skipped(formatAdmissionRefusals(run.hook)[admitted]);
};
