import { sql } from 'kysely';
import type { Statement } from '../store/engine/protocol.js';
import { insertRow, updateRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import { jobTable } from '../store/tables/jobs.js';
import type { ClaimedJob } from './procedures.js';

export interface NewJob {
  kind: string;
  /** The ID of the object that the job is about. */
  ref: string;
  /** The job's lane; its jobs share one concurrency limit. */
  lane: string;
  /** The due time in ISO 8601. */
  runAt: string;
}

/** Returns the statement that adds a job, for the caller's transaction. */
export const addJob = ({ kind, ref, lane, runAt }: NewJob): Statement =>
  insertRow(jobTable, { kind, ref, lane, run_at: runAt });

/**
 * Returns the statement that adds a job before all waiting jobs, so that begun work is finished
 * first.
 */
export const addJobFirst = ({ db }: Store, { kind, ref, lane, runAt }: NewJob): Statement =>
  statement(db.insertInto('jobs').values({ id: FRONT, kind, ref, lane, run_at: runAt }), 1);

/**
 * Returns the statement that adds a job, before others, for an agent that is `running` and has no
 * job. It does nothing for other agents.
 */
export const resumeAgent = ({ db }: Store, agentId: string, runAt: string): Statement => {
  const ofAgent = db
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', sql.lit('agent'))
    .where('ref', '=', agentId);
  const job = db
    .selectFrom('agents')
    .select(['id', 'lane'])
    .select([FRONT.as('front'), sql<string>`'agent'`.as('kind'), sql<string>`${runAt}`.as('at')])
    .where('id', '=', agentId)
    .where('status', '=', 'running')
    .where((of) => of.not(of.exists(ofAgent)));
  return statement(
    db.insertInto('jobs').columns(['ref', 'lane', 'id', 'kind', 'run_at']).expression(job),
  );
};

/**
 * The number before all others. Jobs are claimed in the order of their numbers, and the database
 * assigns numbers from 1 up.
 */
const FRONT = sql<number>`(SELECT min(0, coalesce(min(id), 0)) - 1 FROM jobs)`;

/**
 * Returns the statement that adds a job which this boot has claimed already, since it continues in
 * the slot of another. It returns the row's `id`.
 */
export const addClaimedJob = (
  { db }: Store,
  { kind, ref, lane, runAt, boot }: NewJob & { boot: string },
): Statement =>
  statement(
    db
      .insertInto('jobs')
      .values({ kind, ref, lane, run_at: runAt, attempts: 1, boot })
      .returning('id'),
    1,
  );

/** Returns the statement that releases a job after so many attempts, which is due again at `runAt`. */
export const releaseJob = (
  { db }: Store,
  { id, attempts }: Pick<ClaimedJob, 'id' | 'attempts'>,
  runAt: string,
): Statement =>
  statement(updateRows(db, jobTable, { id }).set({ boot: null, run_at: runAt, attempts }), 1);

/** Returns the statement that removes the job if it still exists. */
export const dropJob = ({ db }: Store, id: number): Statement =>
  statement(db.deleteFrom('jobs').where('id', '=', id));

/**
 * Returns the statement that removes the job of an agent, even if it is claimed. The kind is a
 * literal; with a parameter the index would not be used.
 */
export const removeJobOfAgent = (agentId: string): Statement => ({
  sql: "DELETE FROM jobs WHERE kind = 'agent' AND ref = ?",
  parameters: [agentId],
});
