import type Database from 'better-sqlite3';
import {
  type NoticePosting,
  postEvent,
  postNotice,
  type QueuedLanes,
} from '../../outbound/procedures/post.js';
import type { ExecutionRow } from '../../store/tables/hooks.js';
import type { NewOutgoingEvent } from '../../store/tables/outbox.js';
import { type Admission, type Admitted, runCounts } from './admit.js';

export interface EndRecord {
  execution: Pick<ExecutionRow, 'id' | 'action' | 'effect' | 'attempts'> & {
    status: Exclude<ExecutionRow['status'], 'queued' | 'running'>;
    result: string | null;
    error: string | null;
    /** Null keeps the recorded start. */
    started_at: string | null;
    finished_at: string;
  };
  notices: NoticePosting[];
  event: NewOutgoingEvent | null;
}

/**
 * The end of an execution prepared for a version of its hook, with its admission if that is still
 * needed.
 */
export interface LimitedEndRecord extends EndRecord {
  /** Null for any version of the hook. */
  prepared: { hookId: string; hookUpdatedAt: string | null; isSuspended: boolean };
  admission: (Admission & { skipped: Record<Refusal, string> }) | null;
}

type Refusal = 'cooldown' | 'exhausted';

/**
 * `gone`: it has already ended or was deleted. `changed`: the hook or the account of its owner was
 * changed since the preparation, so it must be prepared again. Neither changes anything.
 */
export type EndVerdict = Admitted | 'gone' | 'changed';

/** Returns false if the execution has already ended. */
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

/** Executions that the hook's limits refuse end as skipped and post nothing. */
export const endExecutions = (db: Database.Database, lanes: QueuedLanes) => {
  const isOpen = db.prepare(
    "SELECT 1 FROM executions WHERE id = ? AND status IN ('queued', 'running')",
  );
  const versionOf = db.prepare<[string], { updated_at: string; is_suspended: 0 | 1 }>(
    `SELECT h.updated_at, u.disabled_at IS NOT NULL AS is_suspended
      FROM hooks AS h JOIN users AS u ON u.id = h.user_id WHERE h.id = ?`,
  );
  const openCounts = runCounts(db, lanes);
  const end = closeExecution(db, lanes);

  const openVersions = () => {
    const found = new Map<string, ReturnType<typeof versionOf.get>>();
    return ({ hookId, hookUpdatedAt, isSuspended }: LimitedEndRecord['prepared']): boolean => {
      if (!found.has(hookId)) found.set(hookId, versionOf.get(hookId));
      const now = found.get(hookId);
      const isSame = hookUpdatedAt === null || now?.updated_at === hookUpdatedAt;
      return isSame && (now?.is_suspended === 1) === isSuspended;
    };
  };

  const endOne = (
    { admission, prepared, ...of }: LimitedEndRecord,
    counts: ReturnType<typeof openCounts>,
    isCurrent: ReturnType<typeof openVersions>,
  ): EndVerdict => {
    if (!isOpen.get(of.execution.id)) return 'gone';
    if (!isCurrent(prepared)) return 'changed';
    const admitted = admission ? counts.admit(admission) : 'go';
    const isRefused = admitted === 'cooldown' || admitted === 'exhausted';
    end(isRefused ? skipped(of, admission?.skipped[admitted] ?? '') : of);
    return admitted;
  };

  return (ends: LimitedEndRecord[]): EndVerdict[] => {
    const counts = openCounts();
    const isCurrent = openVersions();
    const ended = ends.map((each) => endOne(each, counts, isCurrent));
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
