import type { BatchResult, FailedJob, Job } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import { TaskLimitExceeded } from '../kernel/pool.js';
import { Unavailable } from '../store/engine/protocol.js';
import { type ActionDeps, databaseOutcome, isDatabaseOnly, toolSetting } from './actions.js';
import type { OpenedHook } from './hook.js';
import { prepareRunEnd, publishRun } from './outcome.js';
import type { EndVerdict, LimitedEndRecord } from './procedures/end.js';
import { createHookRun, type HookRun, loadRun } from './run.js';
import {
  buildAdmission,
  findEarlyEnd,
  formatAdmissionRefusals,
  isFirst,
  type Stopped,
} from './stops.js';

/** A retry would cost as much again, at the expense of other users. */
export const PAYLOAD_TOO_COSTLY =
  'The payload takes too much time or memory to parse. The execution is not retried.';

/** Time for parsing payloads in one turn of the event loop. */
const SLICE_MS = 5;
/**
 * Executions prepared concurrently. Each may block the event loop while it renders, or use a
 * thread.
 */
const AT_ONCE = 2;
/** Time for one batch, so that slow conditions of one hook do not delay other hooks. */
const BATCH_MS = 12;
/** Maximum time of other work between two turns that does not count, in milliseconds. */
const BETWEEN_MS = 10;
/**
 * After this many changes of its hook an execution ends as prepared last. Otherwise a hook that is
 * edited all the time would never run.
 */
const MAX_CHANGES = 3;
/**
 * Maximum characters of outcomes in one message, because copying a message blocks the event loop.
 */
const PART_LENGTH = 256 * 1024;

interface PreparedRun {
  job: Job;
  run: HookRun;
  end: LimitedEndRecord;
  published(): void;
  publishedLast(): void;
}

/**
 * Executes runs whose effects are all in the database, and commits many outcomes in one
 * transaction. A payload or pattern that fails ends only its own execution.
 */
export const createBatchExecutor = (deps: ActionDeps) => {
  const { store, clock } = deps;
  const changed = new Map<string, number>();

  const prepare = async (job: Job, of: BatchContext): Promise<PreparedRun | null> => {
    const run = job.loaded ? createHookRun(job.loaded) : await loadRun(store, job.ref);
    if (!run) return null;
    if (!isDatabaseOnly(deps.access.toolbox, run.hook)) {
      // The action was changed in the meantime, so the execution is claimed again.
      deps.delayed(job.lane, iso(clock.now()));
      return null;
    }
    const now = clock.now();
    const stopped = await unlessOverrun(findEarlyEnd(deps, run));
    const outcome =
      stopped ??
      (await unlessOverrun(databaseOutcome(deps, run, createActionContext(deps, run, of))));
    const { end, published } = prepareRunEnd(deps, run, outcome);
    const { hook, isSuspended } = run;
    const isFinal = (changed.get(run.execution.id) ?? 0) >= MAX_CHANGES;
    const hookUpdatedAt = isFinal ? null : hook.updatedAt;
    const prepared = { hookId: hook.id, hookUpdatedAt, isSuspended };
    const limited = { ...end, prepared, admission: null };
    if (stopped || !isFirst(run)) {
      return { job, run, end: limited, published, publishedLast: () => undefined };
    }
    const admitting = buildAdmission(deps, run, now);
    end.execution.started_at = admitting.admission.now;
    const admission = { ...admitting.admission, skipped: formatAdmissionRefusals(hook) };
    const { publishedLast } = admitting;
    return { job, run, end: { ...limited, admission }, published, publishedLast };
  };

  const tell = ({ run, published, publishedLast }: PreparedRun, ended: EndVerdict): void => {
    const { id } = run.execution;
    if (ended === 'changed') return void changed.set(id, (changed.get(id) ?? 0) + 1);
    changed.delete(id);
    if (ended === 'gone') return;
    if (ended === 'cooldown' || ended === 'exhausted') {
      publishRun(deps, run, { status: 'skipped', error: formatAdmissionRefusals(run.hook)[ended] });
      return;
    }
    published();
    if (ended === 'last') publishedLast();
  };

  /** After an error that is not a full disk, each execution is ended separately. */
  const endAll = async (runs: PreparedRun[]): Promise<BatchResult> => {
    const [only, another] = runs;
    if (!only) return NOTHING;
    const ends = runs.map(({ end }) => end);
    const ended = await store.call('endExecutions', ends).catch((error: Error) => error);
    if (ended instanceof Unavailable) throw ended;
    if (!(ended instanceof Error)) {
      for (const [at, run] of runs.entries()) tell(run, ended[at] ?? 'gone');
      return { failures: [], left: ended.filter((verdict) => verdict === 'changed').length };
    }
    if (!another) return { failures: [failed(only.job, ended)], left: 0 };
    let all = NOTHING;
    for (const run of runs) all = sum(all, await endAll([run]));
    return all;
  };

  const preparePart = async (jobs: Job[], from: number, of: BatchContext): Promise<BatchPart> => {
    const part: PromiseSettledResult<PreparedRun | null>[] = [];
    const underway = new Set<Promise<void>>();
    let length = 0;
    let since = performance.now();
    const begin = async (job: Job, at: number): Promise<void> => {
      const [prepared] = await Promise.allSettled([prepare(job, of)]);
      part[at] = prepared;
      if (prepared.status === 'fulfilled' && prepared.value)
        length += computeRecordLength(prepared.value.end);
    };
    let at = from;
    for (; at < jobs.length && length < PART_LENGTH; at++) {
      const job = jobs[at];
      if (!job || (at > 0 && performance.now() > of.until)) break;
      const work = begin(job, at - from).finally(() => underway.delete(work));
      underway.add(work);
      if (underway.size >= AT_ONCE) await Promise.race(underway);
      if (performance.now() - since < SLICE_MS) continue;
      const left = performance.now();
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
      of.until += Math.min(since - left, BETWEEN_MS);
    }
    await Promise.all(underway);
    return { part, next: at };
  };

  return async (jobs: Job[], signal: AbortSignal): Promise<BatchResult> => {
    const of: BatchContext = { signal, settings: new Map(), until: 0 };
    await readSetting(deps, jobs, of);
    of.until = performance.now() + BATCH_MS;
    let all = NOTHING;
    let from = 0;
    while (from < jobs.length) {
      const { part, next } = await preparePart(jobs, from, of);
      if (signal.aborted) throw signal.reason;
      if (next === from) break;
      const runs: PreparedRun[] = [];
      for (const [at, each] of part.entries()) {
        const job = jobs[from + at];
        if (each.status === 'fulfilled' && each.value) runs.push(each.value);
        if (each.status === 'rejected' && job) {
          all = sum(all, { failures: [failed(job, each.reason)], left: 0 });
        }
      }
      all = sum(all, await endAll(runs));
      from = next;
    }
    return sum(all, { failures: [], left: jobs.length - from });
  };
};

const NOTHING: BatchResult = { failures: [], left: 0 };

const sum = (one: BatchResult, other: BatchResult): BatchResult => ({
  failures: [...one.failures, ...other.failures],
  left: one.left + other.left,
});

interface BatchPart {
  part: PromiseSettledResult<PreparedRun | null>[];
  next: number;
}

const computeRecordLength = ({ execution, notices }: LimitedEndRecord): number =>
  (execution.result?.length ?? 0) +
  notices.reduce((length, { notice }) => length + notice.body.length, 0);

interface BatchContext {
  signal: AbortSignal;
  settings: Map<OpenedHook, ReturnType<typeof toolSetting>>;
  /** The time after which no further run is begun, as performance.now(). */
  until: number;
}

const createActionContext = (
  deps: ActionDeps,
  { hook }: HookRun,
  { signal, settings }: Omit<BatchContext, 'until'>,
) => ({
  signal,
  setting: () => {
    const known = settings.get(hook) ?? toolSetting(deps, hook);
    settings.set(hook, known);
    return known;
  },
});

const readSetting = async (deps: ActionDeps, [first]: Job[], of: BatchContext): Promise<void> => {
  const run = first?.loaded && createHookRun(first.loaded);
  if (run?.hook.action === 'execute_tool') await createActionContext(deps, run, of).setting();
};

const unlessOverrun = <T>(work: Promise<T>): Promise<T | Stopped> =>
  work.catch((error) => {
    if (!(error instanceof TaskLimitExceeded)) throw error;
    return { status: 'error', error: `${PAYLOAD_TOO_COSTLY} ${error.message}` };
  });

const failed = (job: Job, reason: unknown): FailedJob => ({
  job,
  error: reason instanceof Error ? reason : new Error(String(reason)),
});
