import { iso } from '../kernel/clock.js';
import type { Approval } from '../kernel/contract/approval.js';
import { canonical } from '../kernel/jsonvalue.js';
import { judge, OWNER, type PermissionsOf } from '../permissions/module.js';
import { statement, unlessUnmet } from '../store/store.js';
import { visibleTo } from '../store/visible.js';
import type { Tool } from '../tools/module.js';
import { callDigest, type ExactCall, NoApproval, NotOpen, OtherDigest } from './approval.js';
import {
  type AskingDeps,
  CONVERSATION_MS,
  MAX_ARGUMENTS_LENGTH,
  requestApprovals,
} from './request.js';
import type { ApprovalRows } from './rows.js';
import { spendApprovals } from './withdraw.js';

/** A call of a tool by its owner, without an agent. */
export interface DirectCall {
  userId: string;
  tool: Tool;
  arguments: Record<string, unknown>;
  /** The approval that was given for exactly this call; it is valid once. */
  approvalId?: string;
}

export type DirectCallVerdict =
  | { verdict: 'run' }
  | { verdict: 'ask'; approval: Approval }
  | { verdict: 'deny'; because: string };

interface AdmitDeps extends AskingDeps {
  permissionsOf: PermissionsOf;
  approvals: ApprovalRows;
}

/**
 * Creates the function that decides if a direct call may run now. If it needs an approval, the
 * approval exists and its owner is notified when this resolves. Once approved, the same call with
 * `approvalId` runs, within 15 minutes. Errors: NoApproval, NotOpen, OtherDigest.
 */
export const createAdmit =
  (deps: AdmitDeps) =>
  async (call: DirectCall): Promise<DirectCallVerdict> => {
    const { userId, tool, arguments: args, approvalId } = call;
    const permissions = await deps.permissionsOf(userId);
    const { level, because } = judge(tool, args, { permissions, trust: OWNER });
    if (level === 'deny') return { verdict: 'deny', because };
    if (approvalId !== undefined) {
      await redeem(deps, userId, { approvalId, digest: callDigest(exactly(call)) });
      return { verdict: 'run' };
    }
    if (level === 'allow') return { verdict: 'run' };
    if (canonical(args).length > MAX_ARGUMENTS_LENGTH) {
      return { verdict: 'deny', because: 'its arguments are too long to be approved' };
    }
    const question = {
      ...exactly(call),
      userId,
      callId: null,
      asker: 'A direct call',
      reason: because,
      isUntrusted: false,
      grantScopes: [],
      ttlMs: CONVERSATION_MS,
    };
    const asked = requestApprovals(deps, [question]);
    await deps.store.transact(asked.statements);
    asked.published();
    const [approval] = asked.approvals;
    if (!approval) throw new Error('Nothing was asked');
    return { verdict: 'ask', approval };
  };

const exactly = ({ tool, arguments: args }: DirectCall): ExactCall => ({
  agentId: null,
  tool: tool.skillId,
  action: tool.name,
  arguments: args,
});

/** Uses up an approval for the call that it was given for. */
const redeem = async (
  { store, clock, approvals }: AdmitDeps,
  userId: string,
  { approvalId, digest }: { approvalId: string; digest: string },
): Promise<void> => {
  const row = await approvals.owned(userId, approvalId);
  if (!row || row.agent_id !== null) throw new NoApproval();
  if (row.digest !== digest) throw new OtherDigest();
  const now = clock.now();
  const spent = spendApprovals(store, iso(now))
    .where(visibleTo(userId))
    .where('id', '=', approvalId)
    .where('decided_at', '>', iso(now - CONVERSATION_MS));
  if (await unlessUnmet(store.transact([statement(spent, 1)]))) return;
  throw new NotOpen(
    row.used_at === null ? `The approval is ${row.status}` : 'The approval was used already',
  );
};
