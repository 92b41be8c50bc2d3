import type Database from 'better-sqlite3';
import {
  type NoticePosting,
  postEvent,
  postNotice,
  type QueuedLanes,
} from '../../outbound/procedures/post.js';
import type { ExecutionRow } from '../../store/tables/hooks.js';
import type { OutgoingEventRow } from '../../store/tables/outbox.js';
import { type Admission, type Admitted, runCounts } from './admit.js';

/** The end of an execution, with what is written in the same transaction. */
export interface EndRecord {
  execution: Pick<ExecutionRow, 'id' | 'action' | 'effect' | 'attempts'> & {
    status: Exclude<ExecutionRow['status'], 'queued' | 'running'>;
    result: string | null;
    error: string | null;
    /** Null: the start that is on record stays, if there is one. */
    started_at: string | null;
    finished_at: string;
  };
  /** The notifications that it sends. */
  notices: NoticePosting[];
  /** The event for the owner's outgoing webhooks, if one may want it. */
  event: OutgoingEventRow | null;
}

/** The end of an execution and, unless it was admitted before, its admission. */
export interface LimitedEndRecord extends EndRecord {
  admission: (Admission & { skipped: Record<Refusal, string> }) | null;
}

type Refusal = 'cooldown' | 'exhausted';

/** The verdict on an execution that was to end. `gone`: it had ended before, or was deleted; nothing was changed. */
export type EndedAs = Admitted | 'gone';

/**
 * Ends an execution, unless it has ended before, and posts its notifications and its event. It
 * leaves the queue. Returns false if it had ended.
 */
export const closeExecution = (db: Database.Database, lanes: QueuedLanes) => {
  const end = db.prepare(
    `UPDATE executions SET status = @status, action = @action, effect = @effect, result = @result,
       error = @error, attempts = @attempts, started_at = coalesce(started_at, @started_at),
       finished_at = @finished_at, run_at = NULL, boot = NULL
     WHERE id = @id AND status IN ('queued', 'running')`,
  );
  const post = { notice: postNotice(db, lanes), event: postEvent(db, lanes) };
  return ({ execution, notices, event }: EndRecord): boolean => {
    if (end.run(execution).changes === 0) return false;
    for (const notice of notices) post.notice(notice);
    if (event) post.event(event);
    return true;
  };
};

/**
 * Ends executions whose effects are all in the database, in their order. One that the hook's limits
 * refuse ends as skipped instead and posts nothing.
 */
export const endExecutions = (db: Database.Database, lanes: QueuedLanes) => {
  const isOpen = db.prepare(
    "SELECT 1 FROM executions WHERE id = ? AND status IN ('queued', 'running')",
  );
  const openCounts = runCounts(db);
  const end = closeExecution(db, lanes);

  const endOne = (
    { admission, ...of }: LimitedEndRecord,
    counts: ReturnType<typeof openCounts>,
  ): EndedAs => {
    if (!isOpen.get(of.execution.id)) return 'gone';
    const admitted = admission ? counts.admit(admission) : 'go';
    const isRefused = admitted === 'cooldown' || admitted === 'exhausted';
    end(isRefused ? skipped(of, admission?.skipped[admitted] ?? '') : of);
    return admitted;
  };

  return (ends: LimitedEndRecord[]): EndedAs[] => {
    const counts = openCounts();
    const ended = ends.map((each) => endOne(each, counts));
    counts.save();
    return ended;
  };
};

const skipped = ({ execution }: EndRecord, error: string): EndRecord => ({
  execution: {
    ...execution,
    status: 'skipped',
    effect: 'none',
    result: null,
    error,
    started_at: null,
  },
  notices: [],
  event: null,
});
