import { type Clock, iso } from '../kernel/clock.js';
import type { AuditRecord } from '../kernel/contract/audit.js';
import { mint } from '../kernel/ids.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { ApprovalScope } from '../store/tables/permissions.js';

/** The origin of a request. */
export interface DecisionOrigin {
  address: string;
  requestId: string;
}

/**
 * A decision as it was received. A button names the approval; typed text gives the beginning of its
 * digest.
 */
export interface OwnerDecision {
  approvalId?: string;
  digest: string;
  approved: boolean;
  scope?: ApprovalScope;
  isUnclear?: true;
  reason?: string;
}

/**
 * The text of the reply. `isOver` is true if the approval is decided, by this decision or another.
 */
export interface DecisionReply {
  text: string;
  isOver: boolean;
}

/** The reply to a digest that nothing has which waits. */
export const UNKNOWN: DecisionReply = {
  text: 'No pending request matches that digest.',
  isOver: false,
};

/** The reply to a digest of which too little was typed. */
export const AMBIGUOUS: DecisionReply = {
  text: 'Several requests match that digest. Enter more characters.',
  isOver: false,
};

/** Returns the reply to a decision that has no effect. */
export const notDecided = (why: string): DecisionReply => ({
  text: `${why}. Nothing was decided.`,
  isOver: false,
});

/** Builds the row of the audit log for what the owner of a channel did there. */
export const auditFrom = (
  clock: Clock,
  { address: ip, requestId }: DecisionOrigin,
  act: Pick<AuditRecord, 'actorId' | 'action' | 'target' | 'data'>,
): TransactionStep => {
  const now = clock.now();
  const id = mint('audit', now);
  return {
    audit: { id, at: iso(now), impersonatorId: null, outcome: 'ok', ip, requestId, ...act },
  };
};
