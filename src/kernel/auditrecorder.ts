import type { AuditNote, AuditRecord, AuditStep } from './contract/audit.js';
import type { Caller, RequestContext } from './contract/endpoint.js';

export interface AuditLog {
  append(entry: AuditRecord): Promise<void>;
  isWritten(id: string): Promise<boolean>;
  unwritten(action: string, error: unknown): void;
  mintId(): string;
  now(): string;
}

export type AuditedCall = ReturnType<Auditing['begin']>;

export interface AuditSubject {
  action: string;
  target: string | null;
  by: RequestContext | Caller;
  isContinued: boolean;
  mayFail: boolean;
}

const HOUR_LENGTH = 13;
const MINUTE_LENGTH = 16;

/**
 * Failures are written once a minute per user, action and status, because repeated requests would
 * fill a log that is never pruned. Continued calls are written once an hour per session and action.
 */
export const createAuditing = (log: AuditLog) => {
  const failures = createPeriods(MINUTE_LENGTH);
  const continued = createPeriods(HOUR_LENGTH);

  const entryOf = ({ action, target, by }: AuditSubject): Omit<AuditRecord, 'actorId'> => ({
    id: log.mintId(),
    at: log.now(),
    impersonatorId: getKnownCaller(by)?.impersonator?.id ?? null,
    action,
    target,
    outcome: 'ok',
    ip: by.address,
    requestId: by.requestId,
    data: null,
  });

  const begin = (subject: AuditSubject) => {
    const entry = entryOf(subject);
    const actorId = getKnownCaller(subject.by)?.userId;
    const call = `${getKnownCaller(subject.by)?.sessionId} ${entry.action}`;
    let isRecorded = false;
    let orgId: string | null = null;
    const withOrg = (data: AuditRecord['data']) => (orgId === null ? data : { ...data, orgId });
    const settle = async ({
      outcome,
      data,
    }: Pick<AuditRecord, 'outcome' | 'data'>): Promise<void> => {
      if (actorId === undefined || (isRecorded && (await log.isWritten(entry.id)))) return;
      await log.append({ ...entry, actorId, outcome, data: withOrg(data) });
    };
    return {
      actFor: (id: string): void => {
        orgId = id;
      },
      record: (note: AuditNote & { actorId?: string } = {}): AuditStep => {
        isRecorded = true;
        const { target = entry.target, data = null } = note;
        const actor = actorId ?? note.actorId;
        if (actor === undefined) throw new Error(`The actor of ${entry.action} is unknown`);
        return { audit: { ...entry, actorId: actor, target, data: withOrg(data) } };
      },
      succeeded: async (): Promise<void> => {
        const calls = continued(entry.at);
        if (subject.isContinued && calls.has(call)) return;
        await settle({ outcome: 'ok', data: null }).catch((error) => {
          if (!subject.mayFail) throw error;
          log.unwritten(entry.action, error);
        });
        if (subject.isContinued) calls.add(call);
      },
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

  const impersonated = async (subject: AuditSubject): Promise<void> => {
    const caller = getKnownCaller(subject.by);
    if (caller) await log.append({ ...entryOf(subject), actorId: caller.userId });
  };

  return { begin, impersonated };
};

export type Auditing = ReturnType<typeof createAuditing>;

const getKnownCaller = (by: RequestContext | Caller): Caller | null => ('userId' in by ? by : null);

/** Set of what was seen in the current period. `length`: characters of an ISO 8601 time. */
const createPeriods = (length: number) => {
  let current = { period: '', seen: new Set<string>() };
  return (at: string): Set<string> => {
    const period = at.slice(0, length);
    if (period !== current.period) current = { period, seen: new Set() };
    return current.seen;
  };
};
