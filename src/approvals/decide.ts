import { type Clock, iso } from '../kernel/clock.js';
import type { Hub } from '../realtime/hub.js';
import { type Statement, type TransactionStep, Unmet } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import { type Approval, NoApproval, NotOpen, OtherDigest, viewApproval } from './approval.js';
import type { ApprovalRows } from './rows.js';

/** The agent whose call waits for a decision. */
export interface WaitingAgent {
  /**
   * Commits the steps of a decision together with its event. If the agent waits for no other
   * approval, the same transaction puts it back into the queue. Throws Unmet with the index of the
   * step that does not hold.
   */
  commit(steps: TransactionStep[], decided: DecidedCall): Promise<void>;
}

/** A call that was decided on, and the number of the agent's other calls that still wait. */
export interface DecidedCall {
  approval: ApprovalRow;
  status: Decision['status'];
  others: number;
}

export interface DecidingDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  approvals: ApprovalRows;
  /** Returns the agent as it is now, or null if it no longer exists. */
  waitingAgent(id: string): Promise<WaitingAgent | null>;
}

export interface DecisionInput {
  approved: boolean;
  reason?: string;
  /** The digest of the call that was shown to the user. */
  digest?: string;
  /** The row of the audit log, committed together with the decision. */
  step?: TransactionStep;
}

/**
 * Decides on one call for its owner. If several decisions come at once, the first that is durable
 * counts. Errors: NoApproval, NotOpen, OtherDigest.
 */
export type Decide = (
  userId: string,
  approvalId: string,
  answer: DecisionInput,
) => Promise<Approval>;

/** The decision to write to a pending approval. */
interface Decision {
  status: 'approved' | 'denied' | 'expired';
  by: string | null;
  reason: string | null;
  step?: TransactionStep;
}

export const createDecide =
  (deps: DecidingDeps): Decide =>
  async (userId, approvalId, { approved, reason, digest, step }) => {
    const row = await deps.approvals.owned(userId, approvalId);
    if (!row) throw new NoApproval();
    if (digest !== undefined && digest !== row.digest) throw new OtherDigest();
    const status = approved ? 'approved' : 'denied';
    const decision: Decision = { status, by: userId, reason: reason ?? null, step };
    if (await settle(deps, row, decision)) return decided(deps, row);
    await expire(deps, row);
    const { status: now, decidedAt } = await decided(deps, row);
    throw new NotOpen(`It was ${now} at ${decidedAt} already`);
  };

/**
 * Denies an approval whose time is over. An approval that is decided or has time left stays
 * unchanged.
 */
export const expire = (deps: DecidingDeps, row: ApprovalRow): Promise<boolean> =>
  settle(deps, row, { status: 'expired', by: null, reason: null });

const decided = async ({ approvals }: DecidingDeps, row: ApprovalRow): Promise<Approval> =>
  viewApproval((await approvals.owned(row.user_id, row.id)) ?? row);

/**
 * Returns false if the approval is no longer pending, or if its time does not permit the decision.
 */
const settle = async (
  deps: DecidingDeps,
  row: ApprovalRow,
  decision: Decision,
): Promise<boolean> => {
  for (;;) {
    try {
      await settleOnce(deps, row, decision);
      break;
    } catch (error) {
      if (!(error instanceof Unmet)) throw error;
      if (error.at === 0) return false;
      // The agent moved, or another of its approvals was decided, between the query and the write.
    }
  }
  deps.hub.publish(row.user_id, 'approval', await decided(deps, row));
  return true;
};

/**
 * Commits the decision and, if the agent waits for no other, puts the agent back into the queue.
 */
const settleOnce = async (
  deps: DecidingDeps,
  row: ApprovalRow,
  decision: Decision,
): Promise<void> => {
  const { store } = deps;
  const steps = [decisionOf(deps, row, decision), ...(decision.step ? [decision.step] : [])];
  const agentId = row.agent_id;
  const agent = agentId === null ? null : await deps.waitingAgent(agentId);
  if (agentId === null || !agent) {
    await store.transact(steps);
    return;
  }
  const pending = await deps.approvals.pendingOf(agentId);
  const others = pending.filter(({ id }) => id !== row.id).length;
  await agent.commit([...steps, onlyWith(deps, row, others)], {
    approval: row,
    status: decision.status,
    others,
  });
};

/**
 * Builds the statement that writes the decision. It is judged by the clock in its own transaction:
 * nothing is decided after its time, and nothing expires before it.
 */
const decisionOf = (
  { store, clock }: DecidingDeps,
  row: ApprovalRow,
  { status, by, reason }: Decision,
): Statement => {
  const at = iso(clock.now());
  const update = store.db
    .updateTable('approvals')
    .set({ status, decided_at: at, decided_by: by, decision_reason: reason })
    .where('user_id', '=', row.user_id)
    .where('id', '=', row.id)
    .where('status', '=', 'pending')
    .where('expires_at', status === 'expired' ? '<=' : '>', at);
  return statement(update, 1);
};

/**
 * Builds a statement that holds if the agent waits for exactly this many other approvals; it throws
 * Unmet otherwise.
 */
const onlyWith = ({ store }: DecidingDeps, row: ApprovalRow, others: number): Statement =>
  statement(
    store.db
      .updateTable('approvals')
      .set((of) => ({ status: of.ref('status') }))
      .where('agent_id', '=', row.agent_id)
      .where('status', '=', 'pending')
      .where('id', '!=', row.id),
    others,
  );
