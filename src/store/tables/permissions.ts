import type { CallDetail } from '../../kernel/contract/approval.js';
import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type PermissionLevel = 'allow' | 'ask' | 'deny';

export const permissionTable = table('permissions', {
  id: text,
  user_id: text,
  skill_id: text,
  /** Tool name, or `*` for all tools of the skill. */
  action: text,
  level: literal<PermissionLevel>(),
  reason: orNull(text),
  expires_at: orNull(text),
  created_at: text,
  updated_at: text,
});
export type PermissionRow = Row<typeof permissionTable>;

export type ApprovalStatus = 'pending' | 'approved' | 'denied' | 'expired';

export type GrantScope = 'conversation' | 'host';
export type ApprovalScope = 'once' | GrantScope;

export const approvalTable = table('approvals', {
  id: text,
  user_id: text,
  /** Null for a direct call of the owner. */
  agent_id: orNull(text),
  call_id: orNull(text),
  tool: text,
  action: text,
  arguments: json(),
  digest: text,
  reason: text,
  untrusted: flag,
  status: literal<ApprovalStatus>(),
  created_at: text,
  expires_at: text,
  decided_at: orNull(text),
  decided_by: orNull(text),
  decision_reason: orNull(text),
  used_at: orNull(text),
  /** Available scopes. Always include `once`. */
  scopes: preset(json<ApprovalScope[]>()),
  /** Fingerprint of the MCP tool definition that was shown. */
  tool_digest: preset(orNull(text)),
  details: preset(json<CallDetail[]>()),
});
export type ApprovalRow = Row<typeof approvalTable>;

export const grantTable = table('approval_grants', {
  id: text,
  user_id: text,
  scope: literal<GrantScope>(),
  tool: text,
  action: text,
  tool_digest: orNull(text),
  /** Scheme, host and port. Null for tools without URL. */
  origin: orNull(text),
  method: orNull(text),
  path_prefix: orNull(text),
  /** Hook or conversation whose agents may use it. */
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
