export interface AuditRecord {
  id: string;
  at: string;
  /** Under impersonation, the impersonated user. */
  actorId: string;
  impersonatorId: string | null;
  action: string;
  target: string | null;
  outcome: 'ok' | 'denied' | 'failed';
  ip: string;
  requestId: string;
  data: Record<string, unknown> | null;
}

/** A statement of `store.transact`, so that the row is committed together with its effect. */
export interface AuditStep {
  audit: AuditRecord;
}

export interface AuditNote {
  target?: string;
  data?: Record<string, unknown>;
}

export interface Recorder {
  record(note?: AuditNote): AuditStep;
}

/** For calls without a known user, such as a login: the handler sets the user. */
export interface AuditRecorder {
  record(note: AuditNote & { actorId: string }): AuditStep;
}
