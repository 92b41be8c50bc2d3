import { iso } from '../../kernel/clock.js';
import { Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { Job, JobHandler } from '../jobs/queue.js';
import { removeJobsOf } from '../jobs/statements.js';
import { type ActionDeps, actions } from './actions.js';
import { stoppedBy } from './conditions.js';
import { endRun } from './outcome.js';
import { loadRun, type Run, scopeOf } from './run.js';

export const EXECUTION_JOB = 'execution';

export interface ExecutorDeps extends ActionDeps {
  /** The hook used up its maxExecutions and was disabled. */
  exhausted(hookId: string): Promise<void>;
}

/** Runs executions: refuses what the hook's own rules stop, then does its action once. */
export const createExecutor = (deps: ExecutorDeps): JobHandler => {
  const { store } = deps;

  const run = async (job: Job, signal: AbortSignal): Promise<Job | null> => {
    const found = await loadRun(store, job.ref);
    if (!found || !['queued', 'running'].includes(found.execution.status)) {
      await store.transact([removeJobsOf(store, job.ref)]);
      return null;
    }
    if (wasInterrupted(found)) return interrupt(deps, found, job);
    const stopped = found.execution.started_at === null ? await whyStopped(deps, found) : null;
    if (stopped !== null) {
      await endRun(deps, found, job, { status: 'skipped', error: stopped });
      return null;
    }
    return actions[found.hook.action](deps, found, job, signal);
  };

  return {
    run: async (job, signal) => {
      try {
        return await run(job, signal);
      } catch (error) {
        if (error instanceof Unmet && (await isOver(deps, job.ref))) return null;
        throw error;
      }
    },
    abandon: async (job, error) => {
      const found = await loadRun(store, job.ref);
      if (found) await endRun(deps, found, job, { status: 'error', error: error.message });
      else await store.transact([removeJobsOf(store, job.ref)]);
    },
  };
};

/** The hook was deleted, or its run ended, while the action was at work. */
const isOver = async ({ store }: ExecutorDeps, executionId: string): Promise<boolean> => {
  const found = await loadRun(store, executionId);
  if (found && ['queued', 'running'].includes(found.execution.status)) return false;
  await store.transact([removeJobsOf(store, executionId)]);
  return true;
};

/** An effect that must not happen twice began, and its end was never recorded. */
const wasInterrupted = ({ execution, hook }: Run): boolean =>
  execution.effect === 'begun' && hook.action === 'execute_tool';

const interrupt = async (deps: ExecutorDeps, run: Run, job: Job): Promise<null> => {
  const error =
    'The daemon stopped while this ran. It is not run again by itself: replay it if it should be';
  const posting = deps.outbox.toOwner(run.hook.userId, {
    kind: 'hook_interrupted',
    title: `${run.hook.name}: interrupted`,
    body: error,
    link: `/api/hooks/${run.hook.id}/executions`,
  });
  const { statements } = posting;
  await endRun(deps, run, job, { status: 'interrupted', error, statements });
  posting.published();
  return null;
};

/** Why the hook's own rules stop this run, or null; what may run is counted. */
const whyStopped = async (deps: ExecutorDeps, run: Run): Promise<string | null> => {
  const { hook } = run;
  const condition = stoppedBy(hook.conditions, scopeOf(run));
  if (condition !== null) return condition;
  if (hook.cooldownMs === 0 && hook.maxExecutions === null) {
    await count(deps, hook.id);
    return null;
  }
  const now = deps.clock.now();
  const admitted = await deps.store.call('admitExecution', {
    hookId: hook.id,
    now: iso(now),
    cooldownSince: iso(now - hook.cooldownMs),
  });
  if (admitted === 'cooldown') return `within the cooldown of ${hook.cooldownMs} ms`;
  if (admitted === 'exhausted') return `the hook has run ${hook.maxExecutions} times, its most`;
  if (admitted === 'last') await deps.exhausted(hook.id);
  return null;
};

const count = async ({ store, clock }: ExecutorDeps, hookId: string): Promise<void> => {
  await store.transact([
    statement(
      store.db
        .updateTable('hooks')
        .set((of) => ({ runs: of('runs', '+', 1), last_run_at: iso(clock.now()) }))
        .where('id', '=', hookId),
    ),
  ]);
};
