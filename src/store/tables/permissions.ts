export type PermissionLevel = 'allow' | 'ask' | 'deny';

export interface PermissionRow {
  id: string;
  user_id: string;
  skill_id: string;
  /** The name of a tool, or `*` for all tools of the skill. */
  action: string;
  level: PermissionLevel;
  reason: string | null;
  expires_at: string | null;
  created_at: string;
  updated_at: string;
}

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired';

export interface ApprovalRow {
  id: string;
  user_id: string;
  /** The calling agent. null: the owner's own direct call. */
  agent_id: string | null;
  /** The id of the call in the agent's transcript. */
  call_id: string | null;
  tool: string;
  action: string;
  arguments: string;
  digest: string;
  /** The reason for the request. */
  reason: string;
  untrusted: number;
  status: ApprovalStatus;
  created_at: string;
  expires_at: string;
  decided_at: string | null;
  decided_by: string | null;
  /** The comment that came with the decision. */
  decision_reason: string | null;
  /** The time when the approved call began. It runs once. */
  used_at: string | null;
}
