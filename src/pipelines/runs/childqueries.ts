import { sql } from 'kysely';
import type { Statement } from '../../store/engine/protocol.js';
import { insertRow } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import {
  type PipelineRunRow,
  type PipelineStageRow,
  pipelineRunTable,
  pipelineStageTable,
} from '../../store/tables/pipelines.js';
import type { NewRunRows } from './newrun.js';
import type { CarriedOverRuns } from './retry.js';

export type ChildrenOf = Pick<PipelineStageRow, 'run_id' | 'key' | 'visits' | 'attempt'>;

export type UnfinishedRun = Pick<PipelineRunRow, 'id' | 'item_at' | 'item' | 'params'>;

export interface ChildrenProgress {
  counts: Partial<Record<PipelineRunRow['status'], number>>;
  queued: string[];
}

const UNFINISHED = ['failed', 'stopped'] as const;
/** Marks runs that belong to no attempt yet. Attempts start at 1. */
const NO_ATTEMPT = 0;

type DoneItem = Pick<PipelineRunRow, 'id' | 'item_at' | 'item'>;

export const childRunsStore = ({ db }: Store) => {
  const { ofVisit, ofAttempt, stagesOf } = selections(db);
  return {
    /**
     * One query, because two could be answered by database readers with different states, and too
     * many runs would start.
     */
    progress: async (of: ChildrenOf, most: number): Promise<ChildrenProgress> => {
      const first = ofAttempt(of)
        .where('status', '=', 'queued')
        .select(['id', 'item_at'])
        .orderBy('item_at')
        .limit(most)
        .as('first');
      const ids = sql<string>`json_group_array(first.id ORDER BY first.item_at)`;
      const found = await ofAttempt(of)
        .select(['status', ({ fn }) => fn.countAll<number>().as('count')])
        .select(({ selectFrom }) => selectFrom(first).select(ids.as('ids')).as('queued'))
        .groupBy('status')
        .execute();
      return {
        counts: Object.fromEntries(found.map(({ status, count }) => [status, count])),
        queued: JSON.parse(found[0]?.queued ?? '[]'),
      };
    },

    open: async (of: ChildrenOf): Promise<string[]> => {
      const found = ofAttempt(of).where('status', 'in', ['running', 'waiting']).select('id');
      return listIds(await found.execute());
    },

    completed: async (of: ChildrenOf): Promise<string[]> =>
      listIds(await ofAttempt(of).where('status', '=', 'completed').select('id').execute()),

    firstFailed: (
      of: ChildrenOf,
    ): Promise<Pick<PipelineRunRow, 'item_at' | 'status' | 'error'> | undefined> =>
      ofAttempt(of)
        .where('status', 'in', ['failed', 'stopped'])
        .select(['item_at', 'status', 'error'])
        .orderBy('item_at')
        .executeTakeFirst(),

    /** In the order of the items, as JSON. */
    itemOutputs: async (of: ChildrenOf): Promise<(string | null)[]> => {
      const found = stagesOf(of).where('pipeline_runs.status', '=', 'completed').select('s.output');
      return (await found.orderBy('item_at').execute()).map(({ output }) => output);
    },

    outputLength: async (of: ChildrenOf): Promise<number> => {
      const found = stagesOf(of).where('pipeline_runs.status', '=', 'completed');
      const all = found.select(({ fn }) => fn.sum<number>(sql`length(s.output)`).as('length'));
      return (await all.executeTakeFirst())?.length ?? 0;
    },

    isUntrusted: async (of: ChildrenOf): Promise<boolean> => {
      const found = stagesOf(of).where('s.untrusted', '=', 1).select('s.key');
      return (await found.executeTakeFirst()) !== undefined;
    },

    /** Newest last. */
    unfinished: (of: ChildrenOf): Promise<UnfinishedRun[]> =>
      ofVisit(of)
        .where('status', 'in', UNFINISHED)
        .select(['id', 'item_at', 'item', 'params'])
        .orderBy('id')
        .execute(),

    doneItems: (of: ChildrenOf): Promise<DoneItem[]> =>
      ofVisit(of)
        .where('status', '=', 'completed')
        .where('item_at', 'is not', null)
        .select(['id', 'item_at', 'item'])
        .execute(),
  };
};

const selections = (db: Store['db']) => {
  const ofVisit = ({ run_id, key, visits }: ChildrenOf) =>
    db
      .selectFrom('pipeline_runs')
      .where('parent_id', '=', run_id)
      .where('parent_key', '=', key)
      .where('parent_visits', '=', visits);
  const ofAttempt = (of: ChildrenOf) => ofVisit(of).where('parent_attempt', '=', of.attempt);
  const stagesOf = (of: ChildrenOf) =>
    ofAttempt(of).innerJoin('pipeline_stages as s', 's.run_id', 'pipeline_runs.id');
  return { ofVisit, ofAttempt, stagesOf };
};

export const childRunWrites = ({ db }: Store) => {
  const { ofVisit, ofAttempt } = selections(db);
  return {
    insert: ({ row, stages }: NewRunRows): Statement[] => [
      insertRow(pipelineRunTable, row),
      ...stages.map((stage) => insertRow(pipelineStageTable, stage)),
    ],

    adopt: (id: string, { attempt }: ChildrenOf): Statement =>
      statement(
        db.updateTable('pipeline_runs').set({ parent_attempt: attempt }).where('id', '=', id),
      ),

    /**
     * Assigns the runs of a stage to a later visit: completed ones at once, others when they are
     * reopened.
     */
    carryOver: ({ of, to }: CarriedOverRuns): Statement[] => {
      const runs = db.updateTable('pipeline_runs').where('id', 'in', ofVisit(of).select('id'));
      return [
        statement(runs.where('status', 'in', UNFINISHED).set({ parent_attempt: NO_ATTEMPT })),
        statement(
          runs.where('status', 'in', ['completed', ...UNFINISHED]).set({ parent_visits: to }),
        ),
      ];
    },

    dropQueued: (of: ChildrenOf): Promise<unknown> =>
      db
        .deleteFrom('pipeline_runs')
        .where('id', 'in', ofAttempt(of).where('status', '=', 'queued').select('id'))
        .execute(),
  };
};

export type ChildRunsStore = ReturnType<typeof childRunsStore> & ReturnType<typeof childRunWrites>;

const listIds = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
