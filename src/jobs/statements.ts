import { sql } from 'kysely';
import type { Statement } from '../store/engine/protocol.js';
import { insertRow, updateRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import { jobTable } from '../store/tables/jobs.js';
import type { ClaimedJob } from './procedures.js';

export interface NewJob {
  kind: string;
  ref: string;
  lane: string;
  runAt: string;
}

export const addJob = ({ kind, ref, lane, runAt }: NewJob): Statement =>
  insertRow(jobTable, { kind, ref, lane, run_at: runAt });

/** Before all waiting jobs, so that started work is finished first. */
export const addJobFirst = ({ db }: Store, { kind, ref, lane, runAt }: NewJob): Statement =>
  statement(db.insertInto('jobs').values({ id: FRONT, kind, ref, lane, run_at: runAt }), 1);

/** Only for a `running` agent without a job. */
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

/** Jobs are claimed by number. The database assigns numbers from 1. */
const FRONT = sql<number>`(SELECT min(0, coalesce(min(id), 0)) - 1 FROM jobs)`;

/** Already claimed, because it continues in the slot of another job. Returns the row `id`. */
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

export const releaseJob = (
  { db }: Store,
  { id, attempts }: Pick<ClaimedJob, 'id' | 'attempts'>,
  runAt: string,
): Statement =>
  statement(updateRows(db, jobTable, { id }).set({ boot: null, run_at: runAt, attempts }), 1);

export const removeJob = ({ db }: Store, id: number): Statement =>
  statement(db.deleteFrom('jobs').where('id', '=', id));

/** Even if claimed. The kind is a literal, because the index would not be used with a parameter. */
export const removeJobOfAgent = (agentId: string): Statement => ({
  sql: "DELETE FROM jobs WHERE kind = 'agent' AND ref = ?",
  parameters: [agentId],
});
