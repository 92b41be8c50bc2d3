import { iso } from '../kernel/clock.js';
import type { Approval } from '../kernel/contract/approval.js';
import { markAnsweredAsRead } from '../outbound/module.js';
import type { DueSource } from '../schedule/module.js';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { statement, unmetStep } from '../store/store.js';
import type { ApprovalRow, ApprovalScope, GrantScope } from '../store/tables/permissions.js';
import { decidableBy, visibleTo } from '../store/visible.js';
import {
  ApprovalNotFound,
  ApprovalNotPending,
  DigestMismatch,
  ScopeNotOffered,
  TooManyGrants,
  viewApproval,
} from './approval.js';
import type { Grants } from './grants/queries.js';
import type { ApprovalRows } from './rows.js';
import { onlyPending, type WithdrawalDeps } from './withdraw.js';

/**
 * Commits the steps of a decision together with its event. If no other call of the agent is pending,
 * the same transaction queues the agent again. Throws Unmet with the index of the failed step.
 */
export type CommitDecision = (
  steps: TransactionStep[],
  decided: { approval: ApprovalRow; status: Decision['status']; others: number },
) => Promise<void>;

export interface DecisionDeps extends WithdrawalDeps {
  approvals: ApprovalRows;
  grants: Pick<Grants, 'insert'>;
  /** Resolves to null if the agent no longer exists. */
  waitingAgent(id: string): Promise<CommitDecision | null>;
}

interface DecisionInput {
  approved: boolean;
  reason?: string;
  /** Digest of the call that was shown to the user. */
  digest?: string;
  /** Defaults to `once`. */
  scope?: ApprovalScope;
  /** The person, if it is not the owner of the approval but an organization is. */
  by?: string;
  /** The audit record, committed with the decision. */
  step?: TransactionStep;
}

interface Decision {
  status: 'approved' | 'denied' | 'expired';
  by: string | null;
  reason: string | null;
  /** Scope of the standing approval; absent for `once`. */
  grantScope?: GrantScope | undefined;
  step?: TransactionStep;
}

/**
 * Of several concurrent decisions, the first that is durable counts. Throws ApprovalNotFound, NotOpen,
 * DigestMismatch, ScopeNotOffered or TooManyGrants.
 */
export const createDecide =
  (deps: DecisionDeps) =>
  async (userId: string, approvalId: string, input: DecisionInput): Promise<Approval> => {
    const { approved, reason, digest, scope = 'once', by = userId, step } = input;
    const row = await deps.approvals.owned(userId, approvalId);
    if (!row) throw new ApprovalNotFound();
    if (digest !== undefined && digest !== row.digest) throw new DigestMismatch();
    refuseScope(row, approved, scope);
    const status = approved ? 'approved' : 'denied';
    const grantScope = scope === 'once' ? undefined : scope;
    const decision: Decision = { status, by, reason: reason ?? null, grantScope, step };
    if (await settle(deps, row, decision)) return decided(deps, row);
    await expire(deps, row);
    const { status: now, decidedAt } = await decided(deps, row);
    // The person lost the role in the organization meanwhile.
    if (now === 'pending') throw new ApprovalNotFound();
    throw new ApprovalNotPending(`The approval was already ${now} at ${decidedAt}`);
  };

export type Decide = ReturnType<typeof createDecide>;

const refuseScope = ({ scopes }: ApprovalRow, approved: boolean, scope: ApprovalScope): void => {
  if (scope === 'once') return;
  if (!approved)
    throw new ScopeNotOffered(
      'is allowed only with an approval. A denial applies to this call only',
    );
  const offered: ApprovalScope[] = JSON.parse(scopes);
  if (offered.includes(scope)) return;
  throw new ScopeNotOffered(`must be one of ${offered.join(', ')} for this call`);
};

const BATCH = 100;

/** Ends approvals by the clock, including those that expired while the daemon was stopped. */
export const createExpiry = (deps: DecisionDeps): DueSource => {
  const { approvals, clock } = deps;

  /** An approval without a decision is denied. */
  const tick = async (): Promise<void> => {
    for (const row of await approvals.due(iso(clock.now()), BATCH)) await expire(deps, row);
  };

  return { name: 'expiry of approvals', nextAt: approvals.nextExpiry, tick };
};

/** Does nothing if the approval is decided or has not expired. */
const expire = (deps: DecisionDeps, row: ApprovalRow): Promise<boolean> =>
  settle(deps, row, { status: 'expired', by: null, reason: null });

const decided = async ({ approvals }: DecisionDeps, row: ApprovalRow): Promise<Approval> =>
  viewApproval((await approvals.owned(row.user_id, row.id)) ?? row);

/** Returns false if the approval is not pending, or its time does not permit the decision. */
const settle = async (
  deps: DecisionDeps,
  row: ApprovalRow,
  decision: Decision,
): Promise<boolean> => {
  for (;;) {
    const unmet = await unmetStep(settleOnce(deps, row, decision));
    if (unmet === 0) return false;
    if (unmet === null) break;
    if (decision.grantScope && unmet === GRANT_STEP) throw new TooManyGrants();
    // The agent or another of its approvals changed between the query and the write.
  }
  deps.hub.publish(row.user_id, 'approval', await decided(deps, row));
  return true;
};

/** The index of the step that creates the standing approval, after the decision itself. */
const GRANT_STEP = 1;

const settleOnce = async (
  deps: DecisionDeps,
  row: ApprovalRow,
  decision: Decision,
): Promise<void> => {
  const { store } = deps;
  const steps: TransactionStep[] = [
    buildDecisionUpdate(deps, row, decision),
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

/** The answer marks the notification as read once it has decided all calls of the notification. */
const noticesRead = async (
  { store, clock, approvals }: DecisionDeps,
  row: ApprovalRow,
  { by }: Decision,
): Promise<Statement[]> => {
  if (by === null) return [];
  const effectIds = await approvals.askedWith(row);
  return [markAnsweredAsRead(store, { userId: row.user_id, effectIds, at: iso(clock.now()) })];
};

/** Its own transaction checks the clock: nothing is decided after its expiry or expires before it. */
const buildDecisionUpdate = (
  { store, clock }: DecisionDeps,
  row: ApprovalRow,
  { status, by, reason }: Decision,
): Statement => {
  const at = iso(clock.now());
  const update = store.db
    .updateTable('approvals')
    .set({ status, decided_at: at, decided_by: by, decision_reason: reason })
    .where(visibleTo(row.user_id))
    .$if(by !== null, (found) => found.where(decidableBy(by ?? '')))
    .where('id', '=', row.id)
    .where('status', '=', 'pending')
    .where('expires_at', status === 'expired' ? '<=' : '>', at);
  return statement(update, 1);
};
