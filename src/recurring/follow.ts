import { sql } from 'kysely';
import { iso } from '../kernel/clock.js';
import { type DueSource, settleEach } from '../schedule/module.js';
import { unmetStep } from '../store/store.js';
import {
  type RecurringRunRow,
  type RecurringTaskRow,
  recurringRunTable,
  recurringTaskTable,
} from '../store/tables/recurringtasks.js';
import { rejectedStart } from './actions.js';
import { createBatch } from './begin.js';
import type { DueDeps } from './fire.js';
import { lastRunStep } from './queries.js';

type OverRun = RecurringRunRow & {
  agent_status: string | null;
  agent_error: string | null;
  execution_status: string | null;
  execution_error: string | null;
  pipeline_status: string | null;
  pipeline_error: string | null;
};

const AT_ONCE = 100;

/**
 * Ends runs whose agent, execution or pipeline has ended, and starts the next waiting run. Checks
 * after each write, so that it needs no part in other transactions and finds what ended while the
 * daemon was down.
 */
export const createRunSource = (deps: DueDeps): DueSource => {
  const ended = (most: number) => endedRuns(deps).limit(most).execute();
  const startable = (most: number) => startableRuns(deps).limit(most).execute();

  return {
    name: 'runs of recurring tasks',
    nextAt: async () => {
      const [first] = [...(await ended(1)), ...(await startable(1))];
      return first ? iso(deps.clock.now()) : null;
    },
    tick: async () => {
      await settleEach(await ended(AT_ONCE), (run) => settle(deps, run));
      await settleEach(await startable(AT_ONCE), (run) => resume(deps, run));
    },
  };
};

const runColumns = recurringRunTable.columns.map((column) => `r.${column}` as const);

const endedRuns = ({ store: { db } }: DueDeps) =>
  db
    .selectFrom('recurring_runs as r')
    .leftJoin('agents as a', 'a.id', 'r.agent_id')
    .leftJoin('executions as e', 'e.id', 'r.execution_id')
    .leftJoin('pipeline_runs as p', 'p.id', 'r.pipeline_id')
    .select(runColumns)
    .select(['a.status as agent_status', 'a.error as agent_error'])
    .select(['e.status as execution_status', 'e.error as execution_error'])
    .select(['p.status as pipeline_status', 'p.error as pipeline_error'])
    // The index of open runs contains exactly this condition.
    .where(sql<boolean>`r.status IN ('queued', 'running')`)
    .where('r.status', '=', 'running')
    .where(
      sql<boolean>`coalesce(a.status, 'stopped') IN ('completed', 'failed', 'stopped')
        AND coalesce(e.status, 'error') NOT IN ('queued', 'running')
        AND coalesce(p.status, 'stopped') IN ('completed', 'failed', 'stopped')`,
    );

/** Oldest waiting run of each recurring task without an active run. Excludes disabled users. */
const startableRuns = ({ store: { db } }: DueDeps) =>
  db
    .selectFrom('recurring_runs as r')
    .innerJoin('users as u', 'u.id', 'r.user_id')
    .select(runColumns)
    .where(sql<boolean>`r.status IN ('queued', 'running')`)
    .where('r.status', '=', 'queued')
    .where('u.disabled_at', 'is', null)
    .where(
      sql<boolean>`NOT EXISTS (SELECT 1 FROM recurring_runs AS other
        WHERE other.recurring_task_id = r.recurring_task_id
          AND other.status IN ('queued', 'running')
          AND (other.status = 'running' OR other.id < r.id))`,
    );

const settle = async (deps: DueDeps, ended: OverRun): Promise<void> => {
  const { agent_status, agent_error, execution_status, execution_error, ...others } = ended;
  const { pipeline_status, pipeline_error, ...run } = others;
  const task = await findRecurringTask(deps, run);
  if (!task) return;
  const status = agent_status ?? execution_status ?? pipeline_status;
  const isDone = status === 'completed' || status === 'success';
  const reason = agent_error ?? execution_error ?? pipeline_error;
  const error = reason ?? (status === null ? deletedReason(run) : `The run was ${status}`);
  const finished_at = iso(deps.clock.now());
  const isSkipped = execution_status === 'skipped';
  const batch = createBatch(deps, task, { running: 1, queued: 0 });
  batch.end({
    ...run,
    status: isDone ? 'success' : isSkipped ? 'skipped' : 'error',
    error: isDone ? null : error,
    finished_at,
  });
  await commit(deps, task, batch);
};

const deletedReason = ({ agent_id, pipeline_id }: RecurringRunRow): string => {
  if (agent_id !== null) return 'The agent was deleted';
  return `The ${pipeline_id === null ? 'execution' : 'pipeline run'} was deleted`;
};

const resume = async (deps: DueDeps, run: RecurringRunRow, start = deps.start): Promise<void> => {
  const task = await findRecurringTask(deps, run);
  if (!task) return;
  const batch = createBatch(deps, task, { running: 0, queued: 1, start });
  await batch.resume(run);
  const unmet = await commit(deps, task, batch);
  if (unmet !== null && unmet > 0) await resume(deps, run, rejectedStart);
};

const commit = async (
  { store }: DueDeps,
  task: RecurringTaskRow,
  batch: ReturnType<typeof createBatch>,
): Promise<number | null> => {
  const { steps, last, committed } = batch.changes();
  const written = Object.keys(last).length === 0 ? [] : [lastRunStep(store, task.id, last)];
  const unmet = await unmetStep(store.transact([...steps, ...written]));
  if (unmet === null) committed();
  return unmet;
};

const findRecurringTask = ({ store }: DueDeps, run: RecurringRunRow) =>
  store.db
    .selectFrom('recurring_tasks')
    .select(recurringTaskTable.columns)
    .where('id', '=', run.recurring_task_id)
    .executeTakeFirst();
