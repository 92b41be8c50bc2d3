import type Database from 'better-sqlite3';
import { ExpectationFailed } from '../../store/engine/protocol.js';
import type { MessageAttemptRow, OutboundMessageRow } from '../../store/tables/outbox.js';

export interface Settlement {
  message: Pick<
    OutboundMessageRow,
    'id' | 'status' | 'next_at' | 'receipt' | 'error' | 'finished_at'
  >;
  /** null if the message ends without an attempt. */
  attempt: MessageAttemptRow | null;
  /** Webhook that accepted the message and no longer counts as failing. */
  recovered: string | null;
  jobId: number;
}

/**
 * A postponed job starts a new count, so that only unexpected failures add up. Throws Unmet if the
 * message is gone.
 */
export const settleMessage = (db: Database.Database) => {
  const end = db.prepare(
    `UPDATE sendings SET status = @status, next_at = @next_at, receipt = @receipt, error = @error,
       finished_at = @finished_at WHERE id = @id`,
  );
  const record = db.prepare(
    `INSERT INTO sending_attempts
       (sending_id, number, at, duration_ms, verdict, status, excerpt, error)
     VALUES (@sending_id, @number, @at, @duration_ms, @verdict, @status, @excerpt, @error)`,
  );
  const drop = db.prepare('DELETE FROM jobs WHERE id = ?');
  const postpone = db.prepare('UPDATE jobs SET boot = NULL, run_at = ?, attempts = 0 WHERE id = ?');
  const recover = db.prepare(
    `UPDATE webhooks SET failing_since = NULL
     WHERE id = ? AND enabled = 1 AND failing_since IS NOT NULL`,
  );
  return ({ message, attempt, recovered, jobId }: Settlement): void => {
    if (end.run(message).changes !== 1) throw new ExpectationFailed('The message was deleted', 0);
    if (attempt) record.run(attempt);
    if (recovered !== null) recover.run(recovered);
    if (message.next_at === null) drop.run(jobId);
    else if (postpone.run(message.next_at, jobId).changes !== 1)
      throw new ExpectationFailed('no job', 0);
  };
};
