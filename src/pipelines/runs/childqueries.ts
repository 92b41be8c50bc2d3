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
import type { CarriedRuns } from './retry.js';

/** The attempt of a stage that has begun runs. */
export type ChildrenOf = Pick<PipelineStageRow, 'run_id' | 'key' | 'visits' | 'attempt'>;

/** A run that a stage has begun, and that failed or was stopped. */
export type UnfinishedRun = Pick<PipelineRunRow, 'id' | 'item_at' | 'item' | 'params'>;

/** How far the runs of an attempt are. */
export interface ChildrenProgress {
  /** The number of runs with each status. */
  counts: Partial<Record<PipelineRunRow['status'], number>>;
  /** The first runs that have not begun, in the order of their items. */
  queued: string[];
}

const UNFINISHED = ['failed', 'stopped'] as const;
/** The attempt of runs that count for no attempt yet; attempts are counted from 1. */
const NO_ATTEMPT = 0;

/** A run for an item that has completed in an earlier attempt of its stage. */
type DoneItem = Pick<PipelineRunRow, 'id' | 'item_at' | 'item'>;

/** Returns the queries for the runs that stages of other runs have begun. */
export const childRunsStore = ({ db }: Store) => {
  const { ofVisit, ofAttempt, stagesOf } = selections(db);
  return {
    /**
     * Returns how far the runs of an attempt are. In one query: two could be answered by readers of
     * the database that are not equally far, and more would be begun than the stage allows.
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

    /** Returns the runs of an attempt that have begun and not ended. */
    open: async (of: ChildrenOf): Promise<string[]> => {
      const found = ofAttempt(of).where('status', 'in', ['running', 'waiting']).select('id');
      return idsOf(await found.execute());
    },

    completed: async (of: ChildrenOf): Promise<string[]> =>
      idsOf(await ofAttempt(of).where('status', '=', 'completed').select('id').execute()),

    /** Returns the first run of an attempt, in the order of the items, that failed or was stopped. */
    firstFailed: (
      of: ChildrenOf,
    ): Promise<Pick<PipelineRunRow, 'item_at' | 'status' | 'error'> | undefined> =>
      ofAttempt(of)
        .where('status', 'in', ['failed', 'stopped'])
        .select(['item_at', 'status', 'error'])
        .orderBy('item_at')
        .executeTakeFirst(),

    /** Returns the outputs of the items of an attempt that have completed, as JSON, in their order. */
    itemOutputs: async (of: ChildrenOf): Promise<(string | null)[]> => {
      const found = stagesOf(of).where('pipeline_runs.status', '=', 'completed').select('s.output');
      return (await found.orderBy('item_at').execute()).map(({ output }) => output);
    },

    /** Returns how many characters these outputs have together. */
    outputLength: async (of: ChildrenOf): Promise<number> => {
      const found = stagesOf(of).where('pipeline_runs.status', '=', 'completed');
      const all = found.select(({ fn }) => fn.sum<number>(sql`length(s.output)`).as('length'));
      return (await all.executeTakeFirst())?.length ?? 0;
    },

    /** Returns true if what came from outside is in a run of an attempt. */
    isUntrusted: async (of: ChildrenOf): Promise<boolean> => {
      const found = stagesOf(of).where('s.untrusted', '=', 1).select('s.key');
      return (await found.executeTakeFirst()) !== undefined;
    },

    /** Returns the runs of the earlier attempts of a visit that failed or were stopped, newest last. */
    unfinished: (of: ChildrenOf): Promise<UnfinishedRun[]> =>
      ofVisit(of)
        .where('status', 'in', UNFINISHED)
        .select(['id', 'item_at', 'item', 'params'])
        .orderBy('id')
        .execute(),

    /** Returns the items that have completed in the earlier attempts of a visit. */
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

/** Returns the writes of the runs that stages of other runs have begun. */
export const childRunWrites = ({ db }: Store) => {
  const { ofVisit, ofAttempt } = selections(db);
  return {
    insert: ({ row, stages }: NewRunRows): Statement[] => [
      insertRow(pipelineRunTable, row),
      ...stages.map((stage) => insertRow(pipelineStageTable, stage)),
    ],

    /** Builds the statement with which a done item counts for an attempt. */
    adopt: (id: string, { attempt }: ChildrenOf): Statement =>
      statement(
        db.updateTable('pipeline_runs').set({ parent_attempt: attempt }).where('id', '=', id),
      ),

    /**
     * Builds the statements with which the runs of a stage count for a later visit: those that have
     * completed at once, the others when they are reopened.
     */
    carryOver: ({ of, to }: CarriedRuns): Statement[] => {
      const runs = db.updateTable('pipeline_runs').where('id', 'in', ofVisit(of).select('id'));
      return [
        statement(runs.where('status', 'in', UNFINISHED).set({ parent_attempt: NO_ATTEMPT })),
        statement(
          runs.where('status', 'in', ['completed', ...UNFINISHED]).set({ parent_visits: to }),
        ),
      ];
    },

    /** Removes the runs of an attempt that have not begun. */
    dropQueued: (of: ChildrenOf): Promise<unknown> =>
      db
        .deleteFrom('pipeline_runs')
        .where('id', 'in', ofAttempt(of).where('status', '=', 'queued').select('id'))
        .execute(),
  };
};

export type ChildRunsStore = ReturnType<typeof childRunsStore> & ReturnType<typeof childRunWrites>;

const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);
