import { dropJob, type Job, type JobHandler } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import { MOST_HOPS } from '../kernel/loop.js';
import { TaskOverran } from '../kernel/pool.js';
import { Unmet } from '../store/engine/protocol.js';
import { type ActionDeps, actions } from './actions.js';
import type { OpenedHook } from './hook.js';
import type { Directory } from './inbound/receivinghooks.js';
import { endRun, type RunOutcome } from './outcome.js';
import { type HookRun, hopsOf, isUnderway, loadRun } from './run.js';

export const EXECUTION_JOB = 'execution';

export interface ExecutorDeps extends ActionDeps {
  directory: Directory;
}

/**
 * Creates the handler of execution jobs. It ends an execution that the hook's own rules stop, and
 * otherwise performs its action once.
 */
export const createExecutor = (deps: ExecutorDeps): JobHandler => {
  const { store } = deps;

  const run = async (job: Job, signal: AbortSignal): Promise<Job | null> => {
    const found = await loadRun(store, job.ref);
    if (!isUnderway(found)) return drop(job);
    if (wasInterrupted(found)) return interrupt(deps, found, job);
    const isFirst = found.execution.started_at === null;
    const stopped: Stopped | null | false = found.isSuspended
      ? { status: isFirst ? 'skipped' : 'error', error: 'the account of its owner is disabled' }
      : isFirst && (await whyStopped(deps, found));
    if (stopped) return endRun(deps, found, job, stopped);
    return actions[found.hook.action](deps, found, job, signal);
  };

  const drop = async (job: Job): Promise<null> => {
    await store.transact([dropJob(store, job.id)]);
    return null;
  };

  const end = async (job: Job, error: string): Promise<null> => {
    const found = await loadRun(store, job.ref);
    return isUnderway(found) ? endRun(deps, found, job, { status: 'error', error }) : drop(job);
  };

  return {
    run: async (job, signal) => {
      try {
        return await run(job, signal);
      } catch (error) {
        if (error instanceof TaskOverran) return end(job, `${UNREADABLE} ${error.message}`);
        // The hook was deleted, or its execution ended, during the action.
        const isOver = error instanceof Unmet && !isUnderway(await loadRun(store, job.ref));
        if (isOver) return drop(job);
        throw error;
      }
    },
    abandon: async (job, error) => void (await end(job, error.message)),
  };
};

/**
 * The error for a payload that overran the reader's limits. A second try would cost as much again,
 * at the expense of other users.
 */
const UNREADABLE = 'The payload takes too much to read, so the run is not tried again.';

/** True if an effect that must not happen twice began and its end was never recorded. */
const wasInterrupted = ({ execution }: HookRun): boolean =>
  execution.effect === 'begun' && execution.action === 'execute_tool';

const interrupt = async (deps: ExecutorDeps, run: HookRun, job: Job): Promise<null> => {
  const error =
    'The daemon stopped while this ran. It is not run again by itself: replay it if it should be';
  const { statements, published } = deps.outbound.outbox.toOwner(run.hook.userId, {
    kind: 'hook_interrupted',
    title: `${run.hook.name}: interrupted`,
    body: error,
    link: `/api/hooks/${run.hook.id}/executions`,
    about: run.hook.name,
  });
  const { attempts } = run.execution;
  await endRun(deps, run, { ...job, attempts }, { status: 'interrupted', error, statements });
  published();
  return null;
};

/**
 * Returns how the hook's own rules end this execution, or null if it may run; then it is counted.
 */
const whyStopped = async (deps: ExecutorDeps, run: HookRun): Promise<Stopped | null> => {
  const { hook, execution } = run;
  const hops = hopsOf(run);
  if (hops >= MOST_HOPS) return skipped(await breakLoop(deps, run, hops));
  const judged = await deps.evaluate.conditions(run);
  if (judged.verdict === 'error') return { status: 'error', error: judged.reason };
  if (judged.verdict === 'stopped') return skipped(judged.reason);
  const now = deps.clock.now();
  const admitted = await deps.store.call('admitExecution', {
    executionId: execution.id,
    hookId: hook.id,
    now: iso(now),
    cooldownSince: iso(now - hook.cooldownMs),
  });
  if (admitted === 'cooldown') return skipped(`within the cooldown of ${hook.cooldownMs} ms`);
  if (admitted === 'exhausted') {
    return skipped(`the hook has run ${hook.maxExecutions} times, its most`);
  }
  if (admitted === 'last') await tellExhausted(deps, hook);
  return null;
};

/** The end of an execution that the hook's rules stop. */
type Stopped = Pick<RunOutcome, 'status'> & { error: string };

const skipped = (error: string): Stopped => ({ status: 'skipped', error });

/**
 * Notifies the owner of a loop, once an hour for each hook, because a broken loop may begin again
 * at once.
 */
const breakLoop = async (
  { clock, outbound }: ExecutorDeps,
  { hook }: HookRun,
  hops: number,
): Promise<string> => {
  const hour = iso(clock.now()).slice(0, HOUR);
  await outbound.outbox.send(hook.userId, {
    kind: 'hook_loop',
    title: `${hook.name}: a loop was broken`,
    body: `What fired this hook had come back to this daemon ${hops} times, so the hook did not run. Something that it sets off sends to its own address, or fires it again: an outgoing webhook, a forward, a tool, or another hook.`,
    link: `/api/hooks/${hook.id}/executions`,
    about: hook.name,
    effectId: `loop ${hook.id} ${hour}`,
    hops,
  });
  return `a loop: what fired it had come back ${hops} times`;
};

/** The number of characters of an ISO time up to its hour. */
const HOUR = 13;

const tellExhausted = async (
  { directory, outbound }: ExecutorDeps,
  hook: OpenedHook,
): Promise<void> => {
  directory.disable(hook.id);
  await outbound.outbox.send(hook.userId, {
    kind: 'hook_exhausted',
    title: `${hook.name}: disabled`,
    body: `The hook has run ${hook.maxExecutions} times, its most, and is disabled now.`,
    link: `/api/hooks/${hook.id}`,
  });
};
