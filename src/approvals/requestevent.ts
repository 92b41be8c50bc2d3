import type { OutgoingEvent } from '../outbound/eventfanout.js';
import type { Approval } from './approval.js';

/** A call that waits for its owner's word. Its arguments, which may be anything, are at the link. */
export const approvalRequested = (approval: Approval, asker: string): OutgoingEvent => ({
  type: 'approval.requested',
  data: {
    approvalId: approval.id,
    agentId: approval.agentId,
    asker,
    tool: approval.tool,
    action: approval.action,
    digest: approval.digest,
    untrusted: approval.untrusted,
    expiresAt: approval.expiresAt,
    links: { approval: `/api/chat/approvals/${approval.id}` },
  },
  effectId: approval.id,
});
