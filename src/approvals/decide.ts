import { iso } from '../kernel/clock.js';
import type { Approval } from '../kernel/contract/approval.js';
import { readAnswered } from '../outbound/module.js';
import type { DueSource } from '../schedule/module.js';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { statement, unmetStep } from '../store/store.js';
import type { ApprovalRow, ApprovalScope, GrantScope } from '../store/tables/permissions.js';
import { visibleTo } from '../store/visible.js';
import {
  NoApproval,
  NotOpen,
  OtherDigest,
  ScopeNotOffered,
  TooManyGrants,
  viewApproval,
} from './approval.js';
import type { Grants } from './grants/queries.js';
import type { ApprovalRows } from './rows.js';
import { onlyPending, type WithdrawingDeps } from './withdraw.js';

/**
 * Commits the steps of a decision on an agent's call together with its event. If no other call of
 * the agent waits, the same transaction puts the agent back into the queue. Throws Unmet with the
 * index of the step that does not hold.
 */
export type CommitDecision = (
  steps: TransactionStep[],
  decided: { approval: ApprovalRow; status: Decision['status']; others: number },
) => Promise<void>;

export interface DecidingDeps extends WithdrawingDeps {
  approvals: ApprovalRows;
  grants: Pick<Grants, 'insert'>;
  /** Reads the agent whose call waits for a decision; null if it no longer exists. */
  waitingAgent(id: string): Promise<CommitDecision | null>;
}

interface DecisionInput {
  approved: boolean;
  reason?: string;
  /** The digest of the call that was shown to the user. */
  digest?: string;
  /** The scope of an approval: `once` unless given. */
  scope?: ApprovalScope;
  /** The row of the audit log, committed together with the decision. */
  step?: TransactionStep;
}

/** The decision to write to a pending approval. */
interface Decision {
  status: 'approved' | 'denied' | 'expired';
  by: string | null;
  reason: string | null;
  /** The scope in which an approval stands for later calls. */
  grantScope?: GrantScope | undefined;
  step?: TransactionStep;
}

/**
 * Creates the function that decides on one call for its owner. If several decisions come at once,
 * the first that is durable counts. Errors: NoApproval, NotOpen, OtherDigest, ScopeNotOffered,
 * TooManyGrants.
 */
export const createDecide =
  (deps: DecidingDeps) =>
  async (userId: string, approvalId: string, input: DecisionInput): Promise<Approval> => {
    const { approved, reason, digest, scope = 'once', step } = input;
    const row = await deps.approvals.owned(userId, approvalId);
    if (!row) throw new NoApproval();
    if (digest !== undefined && digest !== row.digest) throw new OtherDigest();
    refuseScope(row, approved, scope);
    const status = approved ? 'approved' : 'denied';
    const grantScope = scope === 'once' ? undefined : scope;
    const decision: Decision = { status, by: userId, reason: reason ?? null, grantScope, step };
    if (await settle(deps, row, decision)) return decided(deps, row);
    await expire(deps, row);
    const { status: now, decidedAt } = await decided(deps, row);
    throw new NotOpen(`It was ${now} at ${decidedAt} already`);
  };

export type Decide = ReturnType<typeof createDecide>;

const refuseScope = ({ scopes }: ApprovalRow, approved: boolean, scope: ApprovalScope): void => {
  if (scope === 'once') return;
  if (!approved) throw new ScopeNotOffered('is for an approval: a denial is for this call alone');
  const offered: ApprovalScope[] = JSON.parse(scopes);
  if (offered.includes(scope)) return;
  throw new ScopeNotOffered(`must be one of ${offered.join(', ')} for this call`);
};

const BATCH = 100;

/**
 * Creates the source of the approvals that run out. It ends approvals by the clock, even those that ran out while the daemon was
 * stopped. An approval without a decision is denied.
 */
export const createExpiry = (deps: DecidingDeps): DueSource => {
  const { approvals, clock } = deps;

  /** Denies all approvals whose time is over now. */
  const tick = async (): Promise<void> => {
    for (const row of await approvals.due(iso(clock.now()), BATCH)) await expire(deps, row);
  };

  return { name: 'expiry of approvals', nextAt: approvals.nextExpiry, tick };
};

/**
 * Denies an approval whose time is over. An approval that is decided or has time left stays
 * unchanged.
 */
const expire = (deps: DecidingDeps, row: ApprovalRow): Promise<boolean> =>
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
    const unmet = await unmetStep(settleOnce(deps, row, decision));
    if (unmet === 0) return false;
    if (unmet === null) break;
    if (decision.grantScope && unmet === GRANT_STEP) throw new TooManyGrants();
    // The agent moved, or another of its approvals was decided, between the query and the write.
  }
  deps.hub.publish(row.user_id, 'approval', await decided(deps, row));
  return true;
};

/** The index of the step that makes an approval stand, behind the decision itself. */
const GRANT_STEP = 1;

/**
 * Commits the decision and, if the agent waits for no other, puts the agent back into the queue.
 */
const settleOnce = async (
  deps: DecidingDeps,
  row: ApprovalRow,
  decision: Decision,
): Promise<void> => {
  const { store } = deps;
  const steps: TransactionStep[] = [
    decisionOf(deps, row, decision),
    ...(decision.grantScope ? [deps.grants.insert(row, decision.grantScope)] : []),
    ...(decision.step ? [decision.step] : []),
  ];
  const agentId = row.agent_id;
  const commit = agentId === null ? null : await deps.waitingAgent(agentId);
  if (agentId === null || !commit) {
    await store.transact([...steps, ...(await noticesRead(deps, row, decision))]);
    return;
  }
  const pending = await deps.approvals.pendingOf(agentId);
  const others = pending.filter(({ id }) => id !== row.id).length;
  steps.push(onlyPending(store, { agentId, count: others, except: row.id }));
  if (others === 0) steps.push(...(await noticesRead(deps, row, decision)));
  await commit(steps, { approval: row, status: decision.status, others });
};

/** The notification of the call, or of the calls that were asked for with it, is read by its answer. */
const noticesRead = async (
  { store, clock, approvals }: DecidingDeps,
  row: ApprovalRow,
  { by }: Decision,
): Promise<Statement[]> => {
  if (by === null) return [];
  const effectIds = await approvals.askedWith(row);
  return [readAnswered(store, { userId: row.user_id, effectIds, at: iso(clock.now()) })];
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
    .where(visibleTo(row.user_id))
    .where('id', '=', row.id)
    .where('status', '=', 'pending')
    .where('expires_at', status === 'expired' ? '<=' : '>', at);
  return statement(update, 1);
};
