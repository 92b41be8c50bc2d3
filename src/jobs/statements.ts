import { sql } from 'kysely';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';

export interface NewJob {
  kind: string;
  /** Id of what the job is about. */
  ref: string;
  /** Jobs of one lane share its concurrency. */
  lane: string;
  /** ISO 8601. */
  runAt: string;
}

/** Statements about jobs, for the transactions of those whose work they are. */
export const addJob = ({ db }: Store, { kind, ref, lane, runAt }: NewJob): Statement =>
  statement(db.insertInto('jobs').values({ kind, ref, lane, run_at: runAt }), 1);

/** Before all that has not begun yet: what was begun is finished first. */
export const addJobFirst = ({ db }: Store, { kind, ref, lane, runAt }: NewJob): Statement =>
  statement(db.insertInto('jobs').values({ id: FRONT, kind, ref, lane, run_at: runAt }), 1);

/** A new job, before others, for an agent that is `running` and has none; for others nothing. */
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

/** Jobs are claimed in the order of their numbers, and those that come by themselves begin at 1. */
const FRONT = sql<number>`(SELECT min(0, coalesce(min(id), 0)) - 1 FROM jobs)`;

/** The job is done; with it goes its claim. */
export const removeJob = ({ db }: Store, id: number): Statement =>
  statement(db.deleteFrom('jobs').where('id', '=', id), 1);

/** The claimed job goes on as another, in the same slot and at the same place in its lane. */
export const becomeJob = (
  { db }: Store,
  id: number,
  next: Pick<NewJob, 'kind' | 'ref'>,
): Statement =>
  statement(
    db
      .updateTable('jobs')
      .set({ ...next, attempts: 1 })
      .where('id', '=', id),
    1,
  );

/** The claim is given back; the job is due again at `runAt`. */
export const releaseJob = ({ db }: Store, id: number, runAt: string): Statement =>
  statement(db.updateTable('jobs').set({ boot: null, run_at: runAt }).where('id', '=', id), 1);

/** The job, if it is still there. */
export const dropJob = ({ db }: Store, id: number): Statement =>
  statement(db.deleteFrom('jobs').where('id', '=', id));

/** The job of an agent, whoever has claimed it. The kind is a literal, or its index does not serve. */
export const removeJobOfAgent = ({ db }: Store, agentId: string): Statement =>
  statement(db.deleteFrom('jobs').where('kind', '=', sql.lit('agent')).where('ref', '=', agentId));

/** A job that nobody has claimed yet. */
export const removeWaitingJob = ({ db }: Store, of: { lane: string; ref: string }): Statement =>
  statement(
    db
      .deleteFrom('jobs')
      .where('lane', '=', of.lane)
      .where('boot', 'is', null)
      .where('ref', '=', of.ref),
    1,
  );
