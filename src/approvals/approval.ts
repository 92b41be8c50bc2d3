import type { ApprovalRow, ApprovalStatus } from '../store/tables/permissions.js';

/** A call that waits for its owner's word, as the API and `/ws` show it. */
export interface Approval {
  id: string;
  /** null: the owner's own direct call. */
  agentId: string | null;
  /** Id of the skill, and the tool's name in it. */
  tool: string;
  action: string;
  arguments: Record<string, unknown>;
  digest: string;
  /** Why it was asked for. */
  reason: string;
  untrusted: boolean;
  status: ApprovalStatus;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
  /** Id of the user who answered; null where nobody did. */
  decidedBy: string | null;
  decisionReason: string | null;
}

/** No approval of that user has that id. */
export class NoApproval extends Error {
  override name = 'NoApproval';
  override message = 'No approval with that id';
}

/** Somebody was first, it expired, or the call that it was given for was made already. */
export class NotOpen extends Error {
  override name = 'NotOpen';
}

/** What was shown, or is to be run, is not what was asked for. */
export class OtherDigest extends Error {
  override name = 'OtherDigest';
  override message = 'The call is not the one that was shown: its digest differs';
}

export const viewApproval = (row: ApprovalRow): Approval => ({
  id: row.id,
  agentId: row.agent_id,
  tool: row.tool,
  action: row.action,
  arguments: JSON.parse(row.arguments),
  digest: row.digest,
  reason: row.reason,
  untrusted: row.untrusted === 1,
  status: row.status,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  decidedAt: row.decided_at,
  decidedBy: row.decided_by,
  decisionReason: row.decision_reason,
});
