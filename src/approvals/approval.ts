import type { ApprovalRow, ApprovalStatus } from '../store/tables/permissions.js';

/** An approval: a call and its owner's decision on it, as the API and `/ws` show it. */
export interface Approval {
  id: string;
  /** The id of the agent; null for the owner's own direct call. */
  agentId: string | null;
  /** The id of the skill; `action` is the tool's name in it. */
  tool: string;
  action: string;
  arguments: Record<string, unknown>;
  digest: string;
  /** The reason for the request. */
  reason: string;
  untrusted: boolean;
  status: ApprovalStatus;
  createdAt: string;
  expiresAt: string;
  decidedAt: string | null;
  /**
   * The id of the user who decided; null while it is pending, and if it expired or was withdrawn.
   */
  decidedBy: string | null;
  decisionReason: string | null;
}

/** Thrown if the user has no approval with that id. */
export class NoApproval extends Error {
  override name = 'NoApproval';
  override message = 'No approval with that id';
}

/** Thrown if the approval was decided already, has expired, or was used for its call already. */
export class NotOpen extends Error {
  override name = 'NotOpen';
}

/** Thrown if the call that was shown, or that is to run, is not the requested one. */
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
