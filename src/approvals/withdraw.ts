import { type Clock, iso } from '../kernel/clock.js';
import type { QueuedMessage } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { assertRows, type Store, statement } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import { viewApproval } from './approval.js';
import { approvalRows } from './rows.js';

export interface WithdrawingDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
}

/**
 * Builds the statement that voids approved calls that have not begun: they will not begin any more,
 * because the owner has sent a message since.
 */
export const voidApproved = (store: Store, agentId: string, at: string): Statement =>
  statement(spendApprovals(store, at).where('agent_id', '=', agentId));

/** Builds the update that uses up approvals whose calls have not begun. */
export const spendApprovals = ({ db }: Store, at: string) =>
  db
    .updateTable('approvals')
    .set({ used_at: at })
    .where('status', '=', 'approved')
    .where('used_at', 'is', null);

/**
 * Builds a statement that holds if exactly this many of the agent's approvals are pending, the
 * excepted one left out; it throws Unmet otherwise.
 */
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

/** The reasons for denying approvals that their owner did not decide on. */
export const WITHDRAWN = {
  stopped: 'The agent was stopped',
  overtaken: 'a message came first',
};

/**
 * Builds the statements that deny the agent's pending approvals and void approved calls that have
 * not begun, so that none of them runs when the agent goes on. The statements throw Unmet if
 * another decision came first.
 */
export const withdraw = async (
  { store, clock, hub }: WithdrawingDeps,
  agentId: string,
  reason: keyof typeof WITHDRAWN,
): Promise<QueuedMessage & { pending: ApprovalRow[] }> => {
  const at = iso(clock.now());
  const pending = await approvalRows(store).pendingOf(agentId);
  const denied = { status: 'denied', decided_at: at, decision_reason: WITHDRAWN[reason] } as const;
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
