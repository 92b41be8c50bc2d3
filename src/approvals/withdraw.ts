import { type Clock, iso } from '../kernel/clock.js';
import type { QueuedMessage } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { assertRows, type Store, statement } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import { viewApproval } from './approval.js';
import { approvalRows } from './rows.js';

export interface WithdrawalDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
}

/** Voids approved calls that have not begun, because the owner has sent a message since. */
export const voidApproved = (store: Store, agentId: string, at: string): Statement =>
  statement(spendApprovals(store, at).where('agent_id', '=', agentId));

/** Uses up approvals whose calls have not begun. */
export const spendApprovals = ({ db }: Store, at: string) =>
  db
    .updateTable('approvals')
    .set({ used_at: at })
    .where('status', '=', 'approved')
    .where('used_at', 'is', null);

/** Throws Unmet unless exactly `count` approvals of the agent are pending, besides `except`. */
export const onlyPending = (
  { db }: Store,
  of: { agentId: string; count: number; except?: string },
): Statement => {
  const pending = db
    .selectFrom('approvals')
    .select('id')
    .where('agent_id', '=', of.agentId)
    .where('status', '=', 'pending')
    .where('id', '!=', of.except ?? '');
  return assertRows(pending, of.count);
};

/** Reasons of denials that their owner did not decide. */
export const WITHDRAWAL_REASONS = {
  stopped: 'The agent was stopped',
  overtaken: 'the owner sent a message first',
};

/**
 * Denies the agent's pending approvals and voids approved calls that have not begun. The statements
 * throw Unmet if another decision came first.
 */
export const withdraw = async (
  { store, clock, hub }: WithdrawalDeps,
  agentId: string,
  reason: keyof typeof WITHDRAWAL_REASONS,
): Promise<QueuedMessage & { pending: ApprovalRow[] }> => {
  const at = iso(clock.now());
  const pending = await approvalRows(store).pendingOf(agentId);
  const denied = {
    status: 'denied',
    decided_at: at,
    decision_reason: WITHDRAWAL_REASONS[reason],
  } as const;
  const deny = store.db
    .updateTable('approvals')
    .set(denied)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending');
  return {
    pending,
    statements: [voidApproved(store, agentId, at), statement(deny, pending.length)],
    published: () => {
      for (const row of pending) {
        hub.publish(row.user_id, 'approval', viewApproval({ ...row, ...denied }));
      }
    },
  };
};
