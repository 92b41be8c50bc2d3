import { UNFINISHED } from '../../agents/module.js';
import { timeDigits } from '../../kernel/ids.js';
import type { Statement, TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../../store/page.js';
import { selectRows, updateRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type PipelineRunRow,
  type PipelineStageRow,
  pipelineRunTable,
  pipelineStageTable,
} from '../../store/tables/pipelines.js';
import { visibleTo } from '../../store/visible.js';
import { type LoadedRun, loadedRun } from './run.js';

interface RunFilter extends PageInput {
  status?: PipelineRunRow['status'] | undefined;
  templateId?: string | undefined;
  since?: string | undefined;
  /** Selects the runs that the stages of this one have begun; else those that no stage has begun. */
  parentId?: string | undefined;
}

/** Returns the queries for runs of pipelines. */
export const runsStore = ({ db, tryTransact }: Store) => {
  const load = async (row: PipelineRunRow | undefined): Promise<LoadedRun | null> => {
    if (!row) return null;
    const stages = await selectRows(db, pipelineStageTable, { run_id: row.id })
      .orderBy('position')
      .execute();
    const { item_at, parent_id } = row;
    const outer = item_at === null || parent_id === null ? null : await byId(parent_id);
    return loadedRun(row, stages, outer);
  };
  const byId = async (id: string): Promise<LoadedRun | null> =>
    load(await selectRows(db, pipelineRunTable, { id }).executeTakeFirst());
  const changeStep = (run: LoadedRun, change: Partial<PipelineRunRow>): Statement =>
    changeOf(db, run, change);
  const own = (userId: string) => selectRows(db, pipelineRunTable, {}, visibleTo(userId));

  return {
    list: (userId: string, { status, templateId, since, parentId, ...page }: RunFilter) => {
      const mine = own(userId);
      let found =
        parentId === undefined
          ? mine.where('parent_id', 'is', null)
          : mine.where('parent_id', '=', parentId);
      if (status !== undefined) found = found.where('status', '=', status);
      if (templateId !== undefined) found = found.where('template_id', '=', templateId);
      if (since !== undefined) {
        found = found.where('id', '>=', `pipeline_${timeDigits(Date.parse(since))}`);
      }
      return newestFirst(found, page);
    },

    owned: async (userId: string, id: string): Promise<LoadedRun | null> =>
      load(await own(userId).where('id', '=', id).executeTakeFirst()),

    byId,

    ...openQueries(db),

    outlived: () => outlivedStages(db),

    /** Returns the run of a stage whose agent this is, and the key of the stage. */
    ofAgent: (agentId: string): Promise<Pick<PipelineStageRow, 'run_id' | 'key'> | undefined> =>
      db
        .selectFrom('pipeline_stages')
        .select(['run_id', 'key'])
        .where('agent_id', '=', agentId)
        .executeTakeFirst(),

    ...dueQueries(db),

    /** Writes a change of a run and of its stages; false if it is not as it was read. */
    change: (
      run: LoadedRun,
      change: Partial<PipelineRunRow>,
      steps: TransactionStep[],
    ): Promise<boolean> => tryTransact([changeStep(run, change), ...steps]),

    changeStep,

    /** Builds the statement that changes a stage. */
    stageChange: (
      { run_id, key }: Pick<PipelineStageRow, 'run_id' | 'key'>,
      change: Partial<PipelineStageRow>,
    ): Statement => statement(updateRows(db, pipelineStageTable, { run_id, key }).set(change), 1),
  };
};

/** Returns the queries for the runs that have not ended. */
const openQueries = (db: Store['db']) => ({
  /** Returns the ids of the runs that have not ended. */
  open: async (): Promise<string[]> =>
    (
      await db.selectFrom('pipeline_runs').select('id').where('finished_at', 'is', null).execute()
    ).map(({ id }) => id),

  /** Returns the ids of the runs of a user that have not ended and that no stage has begun. */
  openOf: async (userId: string): Promise<string[]> => {
    const open = db.selectFrom('pipeline_runs').where('finished_at', 'is', null);
    const own = open.where(visibleTo(userId)).where('parent_id', 'is', null);
    return (await own.select('id').execute()).map(({ id }) => id);
  },

  isSuspended: async ({ user_id }: PipelineRunRow): Promise<boolean> => {
    const user = db.selectFrom('users').where('id', '=', user_id).select('disabled_at');
    return (await user.executeTakeFirst())?.disabled_at != null;
  },

  /** Returns the stages that have ended and whose agents have not. */
});

/** Returns the queries for what is due in runs by itself. */
const dueQueries = (db: Store['db']) => {
  const dueStages = db.selectFrom('pipeline_stages').where('due_at', 'is not', null);
  const dueRuns = db.selectFrom('pipeline_runs').where('deadline_at', 'is not', null);
  return {
    /** Returns the earliest time at which something is due by itself. */
    nextDue: async (): Promise<string | null> => {
      const [stage, run] = await Promise.all([
        dueStages.select('due_at').orderBy('due_at').limit(1).executeTakeFirst(),
        dueRuns.select('deadline_at').orderBy('deadline_at').limit(1).executeTakeFirst(),
      ]);
      const times = [stage?.due_at, run?.deadline_at].filter((at) => typeof at === 'string');
      return times.sort()[0] ?? null;
    },

    /** Returns the ids of the runs in which something is due. */
    dueAt: async (now: string): Promise<string[]> => {
      const [stages, runs] = await Promise.all([
        dueStages.select('run_id as id').where('due_at', '<=', now).execute(),
        dueRuns.select('id').where('deadline_at', '<=', now).execute(),
      ]);
      return [...new Set([...stages, ...runs].map(({ id }) => id))];
    },
  };
};

/** Builds the statement that changes a run, if that is as it was read. */
const changeOf = (
  db: Store['db'],
  { row }: LoadedRun,
  change: Partial<PipelineRunRow>,
): Statement =>
  statement(
    db
      .updateTable('pipeline_runs')
      .set({ ...change, step: row.step + 1 })
      .where('id', '=', row.id)
      .where('step', '=', row.step),
    1,
  );

const outlivedStages = (db: Store['db']): Promise<Pick<PipelineStageRow, 'run_id' | 'key'>[]> =>
  db
    .selectFrom('agents as a')
    .innerJoin('pipeline_stages as s', 's.agent_id', 'a.id')
    .select(['s.run_id', 's.key'])
    .where('a.status', 'in', UNFINISHED)
    .where('s.finished_at', 'is not', null)
    .execute();

export type RunsStore = ReturnType<typeof runsStore>;
