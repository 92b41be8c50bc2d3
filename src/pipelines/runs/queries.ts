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
  /** Children of this run. Without it, runs without a parent. */
  parentId?: string | undefined;
}

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
    buildRunUpdate(db, run, change);
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

    ofAgent: (agentId: string): Promise<Pick<PipelineStageRow, 'run_id' | 'key'> | undefined> =>
      db
        .selectFrom('pipeline_stages')
        .select(['run_id', 'key'])
        .where('agent_id', '=', agentId)
        .executeTakeFirst(),

    ...dueQueries(db),

    /** Returns false if the run has changed since it was read. */
    change: (
      run: LoadedRun,
      change: Partial<PipelineRunRow>,
      steps: TransactionStep[],
    ): Promise<boolean> => tryTransact([changeStep(run, change), ...steps]),

    changeStep,

    stageChange: (
      { run_id, key }: Pick<PipelineStageRow, 'run_id' | 'key'>,
      change: Partial<PipelineStageRow>,
    ): Statement => statement(updateRows(db, pipelineStageTable, { run_id, key }).set(change), 1),
  };
};

const openQueries = (db: Store['db']) => ({
  open: async (): Promise<string[]> =>
    (
      await db.selectFrom('pipeline_runs').select('id').where('finished_at', 'is', null).execute()
    ).map(({ id }) => id),

  openOf: async (userId: string): Promise<string[]> => {
    const open = db.selectFrom('pipeline_runs').where('finished_at', 'is', null);
    const own = open.where(visibleTo(userId)).where('parent_id', 'is', null);
    return (await own.select('id').execute()).map(({ id }) => id);
  },

  isSuspended: async ({ user_id }: PipelineRunRow): Promise<boolean> => {
    const user = db.selectFrom('users').where('id', '=', user_id).select('disabled_at');
    return (await user.executeTakeFirst())?.disabled_at != null;
  },
});

const dueQueries = (db: Store['db']) => {
  const dueStages = db.selectFrom('pipeline_stages').where('due_at', 'is not', null);
  const dueRuns = db.selectFrom('pipeline_runs').where('deadline_at', 'is not', null);
  return {
    nextDue: async (): Promise<string | null> => {
      const [stage, run] = await Promise.all([
        dueStages.select('due_at').orderBy('due_at').limit(1).executeTakeFirst(),
        dueRuns.select('deadline_at').orderBy('deadline_at').limit(1).executeTakeFirst(),
      ]);
      const times = [stage?.due_at, run?.deadline_at].filter((at) => typeof at === 'string');
      return times.sort()[0] ?? null;
    },

    dueAt: async (now: string): Promise<string[]> => {
      const [stages, runs] = await Promise.all([
        dueStages.select('run_id as id').where('due_at', '<=', now).execute(),
        dueRuns.select('id').where('deadline_at', '<=', now).execute(),
      ]);
      return [...new Set([...stages, ...runs].map(({ id }) => id))];
    },
  };
};

const buildRunUpdate = (
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
