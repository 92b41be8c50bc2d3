import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

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

/** The scopes in which an approval stands for later calls. */
export type GrantScope = 'conversation' | 'host';
export type ApprovalScope = 'once' | GrantScope;

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
  /** The scopes that may be chosen with an approval; `once` is always one of them. */
  scopes: preset(json<ApprovalScope[]>()),
  /** The fingerprint of the definition of an MCP server's tool, as it was shown. */
  tool_digest: preset(orNull(text)),
});
export type ApprovalRow = Row<typeof approvalTable>;

/** An approval that stands for later calls of the same kind. */
export const grantTable = table('approval_grants', {
  id: text,
  user_id: text,
  scope: literal<GrantScope>(),
  tool: text,
  action: text,
  /** The fingerprint of the definition of an MCP server's tool. */
  tool_digest: orNull(text),
  /** Scheme, host and port; null if the tool takes no URL. */
  origin: orNull(text),
  /** The method and the path of the approved request. */
  method: orNull(text),
  path_prefix: orNull(text),
  /** It is for the agents of this hook, or of this conversation. */
  hook_id: orNull(text),
  session_id: orNull(text),
  agent_id: text,
  approval_id: text,
  created_at: text,
  expires_at: text,
  last_used_at: orNull(text),
  uses: preset(number),
});
export type GrantRow = Row<typeof grantTable>;
