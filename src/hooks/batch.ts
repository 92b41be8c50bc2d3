import type { FailedJob, Job } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import { TaskOverran } from '../kernel/pool.js';
import { Unavailable } from '../store/engine/protocol.js';
import { type ActionDeps, databaseOutcome, isDatabaseOnly, toolSetting } from './actions.js';
import type { OpenedHook } from './hook.js';
import { endOf, publishRun } from './outcome.js';
import type { EndedAs, LimitedEndRecord } from './procedures/end.js';
import { type HookRun, loadRun, runOf } from './run.js';
import {
  admissionOf,
  isFirst,
  refusalsOf,
  type Stopped,
  tellExhausted,
  whyStopped,
} from './stops.js';

/**
 * The error for a payload that overran the reader's limits. A second try would cost as much again,
 * at the expense of other users.
 */
export const UNREADABLE = 'The payload takes too much to read, so the run is not tried again.';

/** The time for which payloads are read in one turn of the event loop. */
const SLICE_MS = 5;

/** An execution whose outcome is known and not written yet. */
interface PreparedRun {
  job: Job;
  run: HookRun;
  end: LimitedEndRecord;
  published(): void;
}

/**
 * Creates the function that runs executions of one hook whose effects are all in the database: it
 * finds out the outcome of each, then ends all in one transaction. A payload or a pattern that fails
 * ends its own execution alone.
 */
export const createBatchExecutor = (deps: ActionDeps) => {
  const { store, clock } = deps;

  const prepare = async (job: Job, of: BatchContext): Promise<PreparedRun | null> => {
    const run = job.loaded ? runOf(job.loaded) : await loadRun(store, job.ref);
    if (!run) return null;
    if (!isDatabaseOnly(deps.access.toolbox, run.hook)) {
      // Its action was changed a moment ago: it is claimed again, by itself.
      deps.delayed(job.lane, iso(clock.now()));
      return null;
    }
    const now = clock.now();
    const stopped = await unlessOverrun(whyStopped(deps, run));
    const outcome =
      stopped ?? (await unlessOverrun(databaseOutcome(deps, run, contextOf(deps, run, of))));
    const { end, published } = endOf(deps, run, outcome);
    if (stopped || !isFirst(run)) return { job, run, end: { ...end, admission: null }, published };
    const admission = admissionOf(run, now);
    end.execution.started_at = admission.now;
    const limits = { ...admission, skipped: refusalsOf(run.hook) };
    return { job, run, end: { ...end, admission: limits }, published };
  };

  const tell = async ({ run, published }: PreparedRun, ended: EndedAs): Promise<void> => {
    if (ended === 'gone') return;
    if (ended === 'cooldown' || ended === 'exhausted') {
      publishRun(deps, run, { status: 'skipped', error: refusalsOf(run.hook)[ended] });
      return;
    }
    published();
    if (ended === 'last') await tellExhausted(deps, run.hook);
  };

  /** Ends them all or, after an error that is not the disk's, each by itself. */
  const endAll = async (runs: PreparedRun[]): Promise<FailedJob[]> => {
    const [only, another] = runs;
    if (!only) return [];
    const ends = runs.map(({ end }) => end);
    const ended = await store.call('endExecutions', ends).catch((error: Error) => error);
    if (ended instanceof Unavailable) throw ended;
    if (!(ended instanceof Error)) {
      for (const [at, run] of runs.entries()) await tell(run, ended[at] ?? 'gone');
      return [];
    }
    if (!another) return [failed(only.job, ended)];
    const failures: FailedJob[] = [];
    for (const run of runs) failures.push(...(await endAll([run])));
    return failures;
  };

  /** Begins to prepare all, and lets other work in between. */
  const prepareAll = async (jobs: Job[], of: BatchContext) => {
    const begun: Promise<PromiseSettledResult<PreparedRun | null>[]>[] = [];
    let since = performance.now();
    for (const job of jobs) {
      begun.push(Promise.allSettled([prepare(job, of)]));
      if (performance.now() - since < SLICE_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
    }
    return (await Promise.all(begun)).flat();
  };

  return async (jobs: Job[], signal: AbortSignal): Promise<FailedJob[]> => {
    const prepared = await prepareAll(jobs, { signal, settings: new Map() });
    if (signal.aborted) throw signal.reason;
    const failures: FailedJob[] = [];
    const runs: PreparedRun[] = [];
    for (const [at, each] of prepared.entries()) {
      const job = jobs[at];
      if (each.status === 'fulfilled' && each.value) runs.push(each.value);
      if (each.status === 'rejected' && job) failures.push(failed(job, each.reason));
    }
    return [...failures, ...(await endAll(runs))];
  };
};

/** The values that the runs of a batch share. */
interface BatchContext {
  signal: AbortSignal;
  settings: Map<OpenedHook, ReturnType<typeof toolSetting>>;
}

const contextOf = (deps: ActionDeps, { hook }: HookRun, { signal, settings }: BatchContext) => ({
  signal,
  setting: () => {
    const known = settings.get(hook) ?? toolSetting(deps, hook);
    settings.set(hook, known);
    return known;
  },
});

const unlessOverrun = <T>(work: Promise<T>): Promise<T | Stopped> =>
  work.catch((error) => {
    if (!(error instanceof TaskOverran)) throw error;
    return { status: 'error', error: `${UNREADABLE} ${error.message}` };
  });

const failed = (job: Job, reason: unknown): FailedJob => ({
  job,
  error: reason instanceof Error ? reason : new Error(String(reason)),
});
