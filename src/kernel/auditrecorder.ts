import type { AuditNote, AuditRecord, AuditStep } from './contract/audit.js';
import type { Caller, RequestContext } from './contract/endpoint.js';

/**
 * The audit log, for rows that no handler has put into a transaction. `append` and `isWritten` fail
 * if the log cannot be written.
 */
export interface AuditLog {
  append(entry: AuditRecord): Promise<void>;
  isWritten(id: string): Promise<boolean>;
  /** Reports that an entry could not be written, of a refusal or of a call that is served without. */
  unwritten(action: string, error: unknown): void;
  mintId(): string;
  /** Returns the time as ISO 8601. */
  now(): string;
}

export type AuditedCall = ReturnType<Auditing['begin']>;

export interface AuditSubject {
  action: string;
  /** The target that the path names. */
  target: string | null;
  by: RequestContext | Caller;
  /** True if the call continues an earlier one. */
  isContinued: boolean;
  /** True if the call is served even if its entry cannot be written. */
  mayFail: boolean;
}

/** The lengths of an ISO 8601 time, down to the hour and to the minute. */
const HOUR_LENGTH = 13;
const MINUTE_LENGTH = 16;

/**
 * Ours: a refusal or failure is written once a minute for each user, action and status, because a
 * user who repeats a request would fill a log that is never pruned. For the same reason a call that
 * continues earlier ones leaves a row once an hour for each session and action.
 */
export const createAuditing = (log: AuditLog) => {
  const failures = createPeriods(MINUTE_LENGTH);
  /** The login sessions of this hour, each with the action that it continued. */
  const continued = createPeriods(HOUR_LENGTH);

  const entryOf = ({ action, target, by }: AuditSubject): Omit<AuditRecord, 'actorId'> => ({
    id: log.mintId(),
    at: log.now(),
    impersonatorId: callerOf(by)?.impersonator?.id ?? null,
    action,
    target,
    outcome: 'ok',
    ip: by.address,
    requestId: by.requestId,
    data: null,
  });

  /** Begins one call of an audited endpoint, from its arrival to its reply. It leaves one row. */
  const begin = (asked: AuditSubject) => {
    const entry = entryOf(asked);
    const actorId = callerOf(asked.by)?.userId;
    const call = `${callerOf(asked.by)?.sessionId} ${entry.action}`;
    let isRecorded = false;
    const settle = async (rest: Pick<AuditRecord, 'outcome' | 'data'>): Promise<void> => {
      if (actorId === undefined || (isRecorded && (await log.isWritten(entry.id)))) return;
      await log.append({ ...entry, actorId, ...rest });
    };
    return {
      record: (note: AuditNote & { actorId?: string } = {}): AuditStep => {
        isRecorded = true;
        const { target = entry.target, data = null } = note;
        const actor = actorId ?? note.actorId;
        if (actor === undefined) throw new Error(`The actor of ${entry.action} is unknown`);
        return { audit: { ...entry, actorId: actor, target, data } };
      },
      /** Ends a call that succeeded. Writes the row, unless the handler did or no user is known. */
      succeeded: async (): Promise<void> => {
        const calls = continued(entry.at);
        if (asked.isContinued && calls.has(call)) return;
        await settle({ outcome: 'ok', data: null }).catch((error) => {
          if (!asked.mayFail) throw error;
          log.unwritten(entry.action, error);
        });
        if (asked.isContinued) calls.add(call);
      },
      /** Ends a call that was refused or failed with this status. */
      failed: async (status: number, code: string | undefined): Promise<void> => {
        const seen = failures(log.now());
        const failure = `${actorId} ${entry.action} ${status}`;
        if (actorId === undefined || seen.has(failure)) return;
        seen.add(failure);
        const outcome = status === 403 ? 'denied' : 'failed';
        const data = { status, ...(code !== undefined && { code }) };
        await settle({ outcome, data }).catch((error) => log.unwritten(entry.action, error));
      },
    };
  };

  /**
   * Records that an admin acts as another user, through an endpoint that is not audited otherwise.
   */
  const impersonated = async (asked: AuditSubject): Promise<void> => {
    const caller = callerOf(asked.by);
    if (caller) await log.append({ ...entryOf(asked), actorId: caller.userId });
  };

  return { begin, impersonated };
};

export type Auditing = ReturnType<typeof createAuditing>;

const callerOf = (by: RequestContext | Caller): Caller | null => ('userId' in by ? by : null);

/**
 * Returns a function for the set of what was seen in the period of a time. `length` is that of an
 * ISO 8601 time, down to the period.
 */
const createPeriods = (length: number) => {
  let current = { period: '', seen: new Set<string>() };
  return (at: string): Set<string> => {
    const period = at.slice(0, length);
    if (period !== current.period) current = { period, seen: new Set() };
    return current.seen;
  };
};
