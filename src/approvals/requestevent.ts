import type { OutgoingEvent } from '../outbound/eventfanout.js';
import type { Approval } from './approval.js';

/**
 * Returns the event for a call that waits for its owner's approval. The arguments may be anything,
 * so they are not in the event but at the link.
 */
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
