import { iso } from '../../kernel/clock.js';
import type { Hub } from '../../realtime/module.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import type { PipelineRunRow, PipelineStageRow } from '../../store/tables/pipelines.js';
import type { RunsStore } from './queries.js';
import type { LoadedRun } from './run.js';

export interface RecordRunDeps {
  runs: RunsStore;
  hub: Hub;
  now(): number;
  /** Called after the status of a child run has changed. */
  childMoved(child: PipelineRunRow): void;
}

export interface RunChange {
  run?: Partial<PipelineRunRow>;
  stages?: Map<string, Partial<PipelineStageRow>>;
  steps?: TransactionStep[];
}

/**
 * Writes changes in one transaction, publishes changed stages and updates the loaded run. Resolves
 * to false if the run has changed since it was read.
 */
export const recordRun = async (
  { runs, hub, now, childMoved }: RecordRunDeps,
  run: LoadedRun,
  { run: ofRun = {}, stages = new Map(), steps = [] }: RunChange,
): Promise<boolean> => {
  const after = new Map([...run.stages].map(([key, row]) => [key, { ...row, ...stages.get(key) }]));
  const isOver = ofRun.finished_at !== undefined && ofRun.finished_at !== null;
  const change = {
    ...(isOver ? OVER : deriveRunStatus(run, [...after.values()], now())),
    ...ofRun,
  };
  const written = [...stages].map(([key, change]) =>
    runs.stageChange({ run_id: run.row.id, key }, change),
  );
  if (!(await runs.change(run, change, [...written, ...steps]))) return false;
  const before = run.row.status;
  Object.assign(run.row, change, { step: run.row.step + 1 });
  run.stages = after;
  for (const key of stages.keys()) {
    const row = after.get(key);
    if (row) hub.publish(run.row.user_id, 'pipeline.stage', stageEvent(run.row, row));
  }
  if (run.row.parent_id !== null && run.row.status !== before) childMoved(run.row);
  return true;
};

const OVER = { deadline_at: null, left_ms: null };

const stageEvent = (
  { id, name, status: runStatus }: PipelineRunRow,
  { key, status, reason, attempt, visits, agent_id, error }: PipelineStageRow,
) => ({
  runId: id,
  run: name,
  runStatus,
  key,
  status,
  reason,
  attempt,
  visits,
  agentId: agent_id,
  error,
});

/**
 * Derives the status of a run from its stages. Its time does not count while no stage is active.
 */
const deriveRunStatus = (
  { row, template }: LoadedRun,
  stages: PipelineStageRow[],
  now: number,
): Partial<PipelineRunRow> => {
  const isAtWork = stages.some((stage) => stage.status === 'running' && !isResting(stage));
  const isWaiting = stages.some(
    ({ status }) => status.startsWith('waiting') || status === 'running',
  );
  const left =
    row.deadline_at === null
      ? (row.left_ms ?? template.limits.maxSeconds * 1000)
      : Math.max(0, Date.parse(row.deadline_at) - now);
  if (isAtWork) {
    return {
      status: 'running',
      deadline_at: row.deadline_at ?? iso(now + left),
      left_ms: null,
    };
  }
  return { status: isWaiting ? 'waiting' : 'running', deadline_at: null, left_ms: left };
};

const isResting = ({ due, rests }: PipelineStageRow): boolean =>
  due === 'wait' || due === 'retry' || rests === 1;
