import { iso } from '../kernel/clock.js';
import type { Approval } from '../kernel/contract/approval.js';
import { canonical } from '../kernel/jsonvalue.js';
import { judgeToolCall, OWNER, type PermissionsOf } from '../permissions/module.js';
import { isCommitted, statement } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import type { Tool } from '../tools/module.js';
import {
  ApprovalNotFound,
  ApprovalNotPending,
  callDigest,
  DigestMismatch,
  type ExactCall,
} from './approval.js';
import {
  type ApprovalRequestDeps,
  CONVERSATION_MS,
  MAX_ARGUMENTS_LENGTH,
  requestApprovals,
} from './request.js';
import type { ApprovalRows } from './rows.js';
import { spendApprovals } from './withdraw.js';

/** A tool call by the owner, without an agent. */
export interface DirectCall {
  userId: string;
  tool: Tool;
  arguments: Record<string, unknown>;
  /** The approval for exactly this call; valid once. */
  approvalId?: string;
}

export type DirectCallVerdict =
  | { verdict: 'run' }
  | { verdict: 'ask'; approval: Approval }
  | { verdict: 'deny'; because: string };

interface AdmitDeps extends ApprovalRequestDeps {
  permissionsOf: PermissionsOf;
  approvals: ApprovalRows;
}

/**
 * If the call needs an approval, the approval exists and its owner is notified when this resolves.
 * Once approved, the same call with `approvalId` runs within 15 minutes. Throws ApprovalNotFound,
 * ApprovalNotPending, DigestMismatch, or ToolRefused.
 */
export const createAdmit =
  (deps: AdmitDeps) =>
  async (call: DirectCall): Promise<DirectCallVerdict> => {
    const { userId, tool, arguments: args, approvalId } = call;
    const permissions = await deps.permissionsOf(userId);
    const { level, because } = judgeToolCall(tool, args, { permissions, trust: OWNER });
    if (level === 'deny') return { verdict: 'deny', because };
    if (approvalId !== undefined) {
      await redeem(deps, userId, { approvalId, digest: callDigest(await exactly(call)) });
      return { verdict: 'run' };
    }
    if (level === 'allow') return { verdict: 'run' };
    if (canonical(args).length > MAX_ARGUMENTS_LENGTH) {
      return { verdict: 'deny', because: 'its arguments are too long to be reviewed for approval' };
    }
    const request = {
      ...(await exactly(call)),
      userId,
      callId: null,
      asker: 'A direct call',
      reason: because,
      isUntrusted: false,
      grantScopes: [],
      ttlMs: CONVERSATION_MS,
    };
    const requested = requestApprovals(deps, [request]);
    await deps.store.transact(requested.statements);
    requested.published();
    const [approval] = requested.approvals;
    if (!approval) throw new Error('No approval was requested');
    return { verdict: 'ask', approval };
  };

const exactly = async ({ userId, tool, arguments: args }: DirectCall): Promise<ExactCall> => {
  const details = await tool.describe?.(args, userId);
  const exact = { agentId: null, tool: tool.skillId, action: tool.name, arguments: args };
  return { ...exact, ...(details && { details }) };
};

const redeem = async (
  { store, clock, approvals }: AdmitDeps,
  userId: string,
  { approvalId, digest }: { approvalId: string; digest: string },
): Promise<void> => {
  const row = await approvals.owned(userId, approvalId);
  if (!row || row.agent_id !== null) throw new ApprovalNotFound();
  if (row.digest !== digest) throw new DigestMismatch();
  const now = clock.now();
  const spent = spendApprovals(store, iso(now))
    .where(visibleTo(userId))
    .where('id', '=', approvalId)
    .where('decided_at', '>', iso(now - CONVERSATION_MS));
  if (await isCommitted(store.transact([statement(spent, 1)]))) return;
  throw new ApprovalNotPending(
    row.used_at === null ? `The approval is ${row.status}` : 'The approval was already used',
  );
};
