import type { AuditNote, AuditRecord, AuditStep, Recorder } from './contract/audit.js';
import type { Caller, Visit } from './contract/endpoint.js';

/**
 * The audit log, for rows that no handler has put into a transaction. `append` and `isWritten` fail
 * if the log cannot be written.
 */
export interface AuditLog {
  append(entry: AuditRecord): Promise<void>;
  isWritten(id: string): Promise<boolean>;
  /** Reports that a refusal could not be written. The request stays refused. */
  unwritten(action: string, error: unknown): void;
  mintId(): string;
  /** Returns the time as ISO 8601. */
  now(): string;
}

/** One call of an audited endpoint, from its arrival to its reply. It leaves one row. */
export interface AuditedCall extends Recorder {
  record(note?: AuditNote & { actorId?: string }): AuditStep;
  /** Ends a call that succeeded. Writes the row, unless the handler did or no user is known. */
  succeeded(): Promise<void>;
  /** Ends a call that was refused or failed with this status. */
  failed(status: number, code: string | undefined): Promise<void>;
}

export interface AuditSubject {
  action: string;
  /** The target that the path names. */
  target: string | null;
  by: Visit | Caller;
  /** True if the call continues an earlier one. */
  isContinued: boolean;
}

/** The length of an ISO 8601 time, down to the hour. */
const HOUR_LENGTH = 13;

/**
 * Ours: a refusal or failure is written once a minute for each user, action and status, because a
 * user who repeats a request would fill a log that is never pruned. For the same reason a call that
 * continues earlier ones leaves a row once an hour for each session and action.
 */
export const createAuditing = (log: AuditLog) => {
  const isRepeated = oncePerMinute(log.now);
  /** The login sessions of this hour, each with the action that it continued. */
  let continued = { hour: '', calls: new Set<string>() };

  const entryOf = ({
    action,
    target,
    by,
  }: Omit<AuditSubject, 'isContinued'>): Omit<AuditRecord, 'actorId'> => ({
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

  const begin = (asked: AuditSubject): AuditedCall => {
    const entry = entryOf(asked);
    const actorId = callerOf(asked.by)?.userId;
    const call = `${callerOf(asked.by)?.sessionId} ${entry.action}`;
    let isRecorded = false;
    const settle = async (rest: Pick<AuditRecord, 'outcome' | 'data'>): Promise<void> => {
      if (actorId === undefined || (isRecorded && (await log.isWritten(entry.id)))) return;
      await log.append({ ...entry, actorId, ...rest });
    };
    return {
      record: (note = {}) => {
        isRecorded = true;
        const { target = entry.target, data = null } = note;
        const actor = actorId ?? note.actorId;
        if (actor === undefined) throw new Error(`Nobody is known to have done ${entry.action}`);
        return { audit: { ...entry, actorId: actor, target, data } };
      },
      succeeded: async () => {
        const hour = entry.at.slice(0, HOUR_LENGTH);
        if (continued.hour !== hour) continued = { hour, calls: new Set() };
        if (asked.isContinued && continued.calls.has(call)) return;
        await settle({ outcome: 'ok', data: null });
        if (asked.isContinued) continued.calls.add(call);
      },
      failed: async (status, code) => {
        if (actorId === undefined || isRepeated(`${actorId} ${entry.action} ${status}`)) return;
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

const callerOf = (by: Visit | Caller): Caller | null => ('userId' in by ? by : null);

/** Returns a function that is true if the same text was passed to it before in this minute. */
const oncePerMinute = (now: () => string): ((what: string) => boolean) => {
  let minute = '';
  let seen = new Set<string>();
  return (what) => {
    const current = now().slice(0, 16);
    if (current !== minute) {
      minute = current;
      seen = new Set();
    }
    const isKnown = seen.has(what);
    seen.add(what);
    return isKnown;
  };
};
