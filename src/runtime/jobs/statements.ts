import { sql } from 'kysely';
import type { Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';

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
