import { type Clock, iso } from '../kernel/clock.js';
import type { Posting } from '../outbound/outbox.js';
import type { Hub } from '../realtime/hub.js';
import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import { viewApproval } from './approval.js';
import type { ApprovalRows } from './rows.js';

export interface WithdrawingDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  approvals: ApprovalRows;
}

/**
 * Builds the statement that voids approved calls that have not begun: they will not begin any more,
 * because the owner has sent a message since.
 */
export const voidApproved = ({ db }: Pick<Store, 'db'>, agentId: string, at: string): Statement =>
  statement(
    db
      .updateTable('approvals')
      .set({ used_at: at })
      .where('agent_id', '=', agentId)
      .where('status', '=', 'approved')
      .where('used_at', 'is', null),
  );

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
  { store: { db }, clock, hub, approvals }: WithdrawingDeps,
  agentId: string,
  reason: keyof typeof WITHDRAWN,
): Promise<Withdrawal> => {
  const at = iso(clock.now());
  const pending = await approvals.pendingOf(agentId);
  const denied = { status: 'denied', decided_at: at, decision_reason: WITHDRAWN[reason] } as const;
  const deny = db
    .updateTable('approvals')
    .set(denied)
    .where('agent_id', '=', agentId)
    .where('status', '=', 'pending');
  return {
    pending,
    statements: [voidApproved({ db }, agentId, at), statement(deny, pending.length)],
    published: () => {
      for (const row of pending) {
        hub.publish(row.user_id, 'approval', viewApproval({ ...row, ...denied }));
      }
    },
  };
};

export interface Withdrawal extends Posting {
  pending: ApprovalRow[];
}
