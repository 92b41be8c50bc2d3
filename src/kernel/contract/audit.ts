/** What a call did, tried or was refused: one row of the audit log, before it has its place there. */
export interface AuditRecord {
  /** One per call, so that no call can leave two rows. */
  id: string;
  at: string;
  /** Who acted; under impersonation the user who was acted as. */
  actorId: string;
  /** The admin behind an impersonated call. */
  impersonatorId: string | null;
  /** `<resource>.<verb>`, as the contract's `audit` says. */
  action: string;
  /** The id of what it was done to. */
  target: string | null;
  outcome: 'ok' | 'denied' | 'failed';
  ip: string;
  requestId: string;
  /** What else tells what happened; never a secret. */
  data: Record<string, unknown> | null;
}

/** A step of `store.transact`: the row is written with the effect that it tells of, or neither is. */
export interface AuditStep {
  audit: AuditRecord;
}

/** What a handler knows of the call that the route does not. */
export interface AuditNote {
  target?: string;
  data?: Record<string, unknown>;
}

/** On `by` of an audited endpoint: the row of this call, to be put into the transaction of its effect. */
export interface Recorder {
  record(note?: AuditNote): AuditStep;
}

/** The same where nobody was known when the call came: a login says who it was. */
export interface VisitRecorder {
  record(note: AuditNote & { actorId: string }): AuditStep;
}
