export interface AuditRecord {
  /** One per call, so that no call leaves two rows. */
  id: string;
  at: string;
  /** Under impersonation, the impersonated user. */
  actorId: string;
  /** The admin who impersonates. */
  impersonatorId: string | null;
  /** `<resource>.<verb>`, as in the contract's `audit`. */
  action: string;
  target: string | null;
  outcome: 'ok' | 'denied' | 'failed';
  ip: string;
  requestId: string;
  /** Further facts about the call, without secrets. */
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

/** Creates the row of an audited call, for the transaction with its effect. */
export interface Recorder {
  record(note?: AuditNote): AuditStep;
}

/** For calls without a known user, such as a login: the handler sets the user. */
export interface AuditRecorder {
  record(note: AuditNote & { actorId: string }): AuditStep;
}
