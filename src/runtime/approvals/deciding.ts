import { iso } from '../../kernel/clock.js';
import { type Statement, type Step, Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { AgentRow } from '../../store/tables/agents.js';
import type { ApprovalRow } from '../../store/tables/permissions.js';
import { JOB } from '../agents/agent.js';
import { createRecord, type RecordDeps } from '../agents/record.js';
import type { AgentRows } from '../agents/rows.js';
import type { Queue } from '../jobs/queue.js';
import { addJob } from '../jobs/statements.js';
import { type Approval, NoApproval, NotOpen, OtherDigest, viewApproval } from './approval.js';
import type { ApprovalRows } from './rows.js';

export interface DecidingDeps extends RecordDeps {
  rows: AgentRows;
  approvals: ApprovalRows;
  queue: Queue;
}

export interface Answer {
  approved: boolean;
  reason?: string;
  /** What the one who answers was shown. */
  digest?: string;
  /** Committed with the decision: its row of the audit log. */
  step?: Step;
}

/**
 * The owner's word on one call. The first that is durable counts, however many come at once.
 * Errors: NoApproval, NotOpen, OtherDigest.
 */
export type Decide = (userId: string, approvalId: string, answer: Answer) => Promise<Approval>;

/** What becomes of a pending approval. */
interface Decision {
  status: 'approved' | 'denied' | 'expired';
  by: string | null;
  reason: string | null;
  step?: Step;
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

/** Its time is over: that is a denial. Nothing happens to one that is decided, or has time left. */
export const expire = (deps: DecidingDeps, row: ApprovalRow): Promise<boolean> =>
  settle(deps, row, { status: 'expired', by: null, reason: null });

const decided = async ({ approvals }: DecidingDeps, row: ApprovalRow): Promise<Approval> =>
  viewApproval((await approvals.owned(row.user_id, row.id)) ?? row);

/** False where it was not pending any more, or its time says otherwise. */
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
      // The agent moved, or another of its approvals was decided, between the look and the write.
    }
  }
  deps.hub.publish(row.user_id, 'approval', await decided(deps, row));
  return true;
};

/** The decision and, when it was the last that the agent waited for, its way back into the queue. */
const settleOnce = async (
  deps: DecidingDeps,
  row: ApprovalRow,
  decision: Decision,
): Promise<void> => {
  const { store } = deps;
  const steps = [decisionOf(deps, row, decision), ...(decision.step ? [decision.step] : [])];
  const agent = row.agent_id === null ? undefined : await deps.rows.byId(row.agent_id);
  if (!agent) {
    await store.transact(steps);
    return;
  }
  const pending = await deps.approvals.pendingOf(agent.id);
  const others = pending.filter(({ id }) => id !== row.id).length;
  const goesOn = agent.status === 'waiting_approval' && others === 0;
  const record = createRecord(deps, agent)
    .add(...steps, onlyWith(deps, row, others))
    .event('agent.tool_call', {
      phase: 'approval',
      approvalId: row.id,
      callId: row.call_id,
      tool: `${row.tool}.${row.action}`,
      status: decision.status,
    });
  if (goesOn) record.move(['waiting_approval'], 'queued').add(jobOf(deps, agent));
  else record.only([agent.status]);
  await record.commit();
  if (goesOn) deps.queue.added(agent.lane);
};

/** Judged by the clock in its own transaction: nothing is decided after its time, nor expires before. */
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

/** Holds (Unmet otherwise) where the agent waits for so many other approvals. */
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

const jobOf = ({ store, clock }: DecidingDeps, agent: AgentRow): Statement =>
  addJob(store, { kind: JOB, ref: agent.id, lane: agent.lane, runAt: iso(clock.now()) });
