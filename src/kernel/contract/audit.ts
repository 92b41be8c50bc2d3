/**
 * One row of the audit log, before it has its place there: what a call did, tried or was refused.
 */
export interface AuditRecord {
  /** The id of the row. There is one per call, so that no call can leave two rows. */
  id: string;
  at: string;
  /** The user who acted. Under impersonation, the user who was impersonated. */
  actorId: string;
  /** The admin behind an impersonated call. */
  impersonatorId: string | null;
  /** The action as `<resource>.<verb>`, as in the contract's `audit`. */
  action: string;
  /** The id of the object that was acted on. */
  target: string | null;
  outcome: 'ok' | 'denied' | 'failed';
  ip: string;
  requestId: string;
  /** Further facts about the call, never a secret. */
  data: Record<string, unknown> | null;
}

/**
 * A statement of `store.transact`. The row and the effect that it records are written together or
 * not at all.
 */
export interface AuditStep {
  audit: AuditRecord;
}

/** Facts about the call that the handler knows and the route does not. */
export interface AuditNote {
  target?: string;
  data?: Record<string, unknown>;
}

/**
 * The part of `by` in an audited endpoint that makes the row of this call, for the transaction with
 * its effect.
 */
export interface Recorder {
  record(note?: AuditNote): AuditStep;
}

/** The same for a call without a known user: the handler states the user, as after a login. */
export interface AuditRecorder {
  record(note: AuditNote & { actorId: string }): AuditStep;
}
