import type { PipelineRunRow, PipelineStageRow } from '../../store/tables/pipelines.js';
import type { BackgroundWork } from './background.js';
import { childFailure, childProgressText, childSuccess } from './childoutcome.js';
import type { ChildRunsStore } from './childqueries.js';
import type { RunEngine } from './engine.js';
import type { AttemptOutcome } from './outcome.js';
import { type RecordRunDeps, recordRun } from './record.js';
import { isOpenRun, type LoadedRun, type RunStage, stageIn } from './run.js';
import type { SerializeByRun } from './turns.js';

interface StopRunDeps {
  record: RecordRunDeps;
  inTurn: SerializeByRun;
  /** Called later, because the engine is created after this. */
  engine(): Pick<RunEngine, 'advance' | 'end' | 'settle'>;
}

export interface RunHierarchyDeps extends StopRunDeps {
  children: ChildRunsStore;
  background: BackgroundWork;
}

export interface RunHierarchy {
  begin(runId: string): void;
  /** Starts waiting runs of a stage, updates its progress, and ends the stage with its last run. */
  goOn(runId: string, key: string): void;
  /** Called when the status of a child run changes. */
  moved(child: PipelineRunRow): void;
  /** Removes runs that have not started. */
  stop(row: PipelineStageRow): Promise<void>;
  /** Returns false if a run has outlived its parent stage and must be stopped. */
  isWanted(run: LoadedRun): Promise<boolean>;
}

/** A turn of a run may take the turn of a child run, but never of a parent run. */
export const createRunHierarchy = (deps: RunHierarchyDeps): RunHierarchy => {
  const { children, record, background } = deps;
  const { runs } = record;

  const goOn: RunHierarchy['goOn'] = (runId, key) =>
    background.begin(runId, async () => {
      for (;;) {
        const run = await runs.byId(runId);
        const of = run && stageIn(run, key);
        if (!of || !isOpenRun(of.run.row) || !hasChildren(of)) return;
        const outcome = await stepOfChildren(deps, of);
        if (outcome === 'open') return;
        if (outcome && (await deps.engine().settle(of.run, key, outcome))) break;
      }
      await deps.engine().advance(runId);
    });

  return {
    begin: (runId) => background.begin(runId, () => deps.engine().advance(runId)),
    goOn,
    moved: ({ parent_id, parent_key }) => {
      if (parent_id !== null && parent_key !== null) goOn(parent_id, parent_key);
    },
    stop: async (row) => {
      await children.dropQueued(row);
      await Promise.all((await children.open(row)).map((id) => stopRun(deps, id, null)));
    },
    isWanted: async ({ row: { parent_id, parent_key, parent_visits, parent_attempt } }) => {
      if (parent_id === null || parent_key === null) return true;
      const parent = await runs.byId(parent_id);
      const { row } = (parent && stageIn(parent, parent_key)) ?? {};
      const isSame = row?.visits === parent_visits && row?.attempt === parent_attempt;
      return isSame && row?.status === 'running';
    },
  };
};

/**
 * Resolves to the outcome of the stage if all runs have ended, or to null if the run has changed
 * since it was read.
 */
const stepOfChildren = async (
  { children, record, background, engine }: RunHierarchyDeps,
  of: RunStage,
): Promise<AttemptOutcome | 'open' | null> => {
  const { counts, queued: first } = await children.progress(of.row, atOnce(of));
  const { queued = 0, running = 0, waiting = 0, failed = 0, stopped = 0, completed = 0 } = counts;
  const open = running + waiting;
  const isFailing = failed + stopped > 0;
  if (open === 0 && isFailing) {
    await children.dropQueued(of.row);
    return childFailure(children, of);
  }
  if (open === 0 && queued === 0) return childSuccess({ runs: record.runs, children }, of);
  const free = isFailing ? 0 : atOnce(of) - open;
  // Runs that are about to start come first, so that the limit is not exceeded.
  const next = first.slice(0, Math.max(0, free));
  for (const id of next) background.begin(id, () => engine().advance(id));
  const rests = open > 0 && running === 0 && next.length === 0 ? 1 : 0;
  const total = queued + open + failed + stopped + completed;
  const reason = await childProgressText(children, of, { done: completed, total, waiting });
  if (rests === of.row.rests && reason === of.row.reason) return 'open';
  const stages = new Map([[of.row.key, { rests, reason }]]);
  return (await recordRun(record, of.run, { stages })) ? 'open' : null;
};

/** Stops a run and all its children. `error` is the reason, or null for a request by the user. */
export const stopRun = (
  { inTurn, record, engine }: StopRunDeps,
  id: string,
  error: string | null,
): Promise<void> =>
  inTurn(id, async () => {
    for (;;) {
      const run = await record.runs.byId(id);
      if (!run || !isOpenRun(run.row)) return;
      if (await engine().end(run, { status: 'stopped', error })) return;
    }
  });

export const hasChildren = ({ stage, row }: RunStage): boolean =>
  (stage.kind === 'foreach' || stage.kind === 'pipeline') &&
  row.status === 'running' &&
  row.due !== 'retry';

const AT_ONCE = 2;

const atOnce = ({ stage }: RunStage): number =>
  stage.kind === 'foreach' ? Number(stage.config.concurrency ?? AT_ONCE) : 1;
