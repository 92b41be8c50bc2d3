import { flag, json, literal, orNull, type Row, table, text } from './table.js';

export type PermissionLevel = 'allow' | 'ask' | 'deny';

export const permissionTable = table('permissions', {
  id: text,
  user_id: text,
  skill_id: text,
  /** The name of a tool, or `*` for all tools of the skill. */
  action: text,
  level: literal<PermissionLevel>(),
  reason: orNull(text),
  expires_at: orNull(text),
  created_at: text,
  updated_at: text,
});
export type PermissionRow = Row<typeof permissionTable>;

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired';

export const approvalTable = table('approvals', {
  id: text,
  user_id: text,
  /** The calling agent. null: the owner's own direct call. */
  agent_id: orNull(text),
  /** The id of the call in the agent's transcript. */
  call_id: orNull(text),
  tool: text,
  action: text,
  arguments: json(),
  digest: text,
  /** The reason for the request. */
  reason: text,
  untrusted: flag,
  status: literal<ApprovalStatus>(),
  created_at: text,
  expires_at: text,
  decided_at: orNull(text),
  decided_by: orNull(text),
  /** The comment that came with the decision. */
  decision_reason: orNull(text),
  /** The time when the approved call began. It runs once. */
  used_at: orNull(text),
});
export type ApprovalRow = Row<typeof approvalTable>;
