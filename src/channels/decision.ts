import { type Clock, iso } from '../kernel/clock.js';
import type { AuditRecord } from '../kernel/contract/audit.js';
import { mint, orgOf } from '../kernel/ids.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { ApprovalScope } from '../store/tables/permissions.js';

export interface DecisionOrigin {
  address: string;
  requestId: string;
}

/** A button contains the approval id; typed text contains a prefix of its digest. */
export interface OwnerDecision {
  approvalId?: string;
  digest: string;
  approved: boolean;
  scope?: ApprovalScope;
  isUnclear?: true;
  reason?: string;
}

/** `isOver` is true if the approval is decided, by this decision or another. */
export interface DecisionReply {
  text: string;
  isOver: boolean;
}

export const UNKNOWN: DecisionReply = {
  text: 'No pending request matches that digest.',
  isOver: false,
};

export const AMBIGUOUS: DecisionReply = {
  text: 'Several requests match that digest. Enter more characters.',
  isOver: false,
};

export const notDecided = (why: string): DecisionReply => ({
  text: `${why}. Nothing was decided.`,
  isOver: false,
});

export const auditFrom = (
  clock: Clock,
  { address: ip, requestId }: DecisionOrigin,
  {
    ownerId,
    data,
    ...act
  }: Pick<AuditRecord, 'actorId' | 'action' | 'target' | 'data'> & { ownerId: string },
): TransactionStep => {
  const orgId = orgOf(ownerId);
  const withOrg = orgId === null ? data : { ...data, orgId };
  const now = clock.now();
  const id = mint('audit', now);
  return {
    audit: {
      id,
      at: iso(now),
      impersonatorId: null,
      outcome: 'ok',
      ip,
      requestId,
      ...act,
      data: withOrg,
    },
  };
};
