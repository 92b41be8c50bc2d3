import type { Approval } from '../approvals/approval.js';
import { type ApprovalRequest, requestApprovals } from '../approvals/request.js';
import { removeJobOfAgent } from '../jobs/statements.js';
import { excerptOf } from '../kernel/excerpt.js';
import { type Statement, Unmet } from '../store/engine/protocol.js';
import { statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import { createRecord } from './record.js';
import { AgentGone, type AgentRun, type LoopDeps } from './run.js';

/**
 * The approvals for which an agent is about to wait: new requests, and the number that are open
 * already.
 */
export interface PendingQuestions {
  questions: ApprovalRequest[];
  waiting: number;
}

/**
 * Lets the agent wait for its owner. Its state, its approvals, the notification to its owner and
 * the hooks that it fires are one transaction. Its place in the queue is free then, and the run
 * ends (AgentGone). Returns false if a decision came before that.
 */
export const waitForOwner = async (
  deps: LoopDeps,
  { agent, activeMs }: AgentRun,
  { questions, waiting }: PendingQuestions,
): Promise<false> => {
  const { hops } = agent;
  const asked = questions.map((question) => ({ ...question, hops }));
  const { approvals, statements, published } = requestApprovals(deps, asked);
  const consequence = await deps.approvalConsequences(agent, approvals);
  const record = createRecord(deps, agent)
    .add(onlyWith(deps, agent, waiting))
    .add(...statements);
  for (const [at, approval] of approvals.entries()) {
    record.event('agent.tool_call', eventOf(approval, questions[at]?.callId));
  }
  record
    .move(['running'], 'waiting_approval', { active_ms: activeMs() })
    .add(removeJobOfAgent(deps.store, agent.id), ...consequence.statements);
  try {
    await record.commit();
  } catch (error) {
    if (!(error instanceof Unmet)) throw error;
    if (error.at === 0) return false;
    throw new AgentGone();
  }
  published();
  consequence.committed();
  throw new AgentGone();
};

/**
 * Builds a statement that holds if exactly this many of the agent's approvals are still open; it
 * throws Unmet at 0 otherwise.
 */
const onlyWith = ({ store }: LoopDeps, { id }: AgentRow, waiting: number): Statement =>
  statement(
    store.db
      .updateTable('approvals')
      .set((of) => ({ status: of.ref('status') }))
      .where('agent_id', '=', id)
      .where('status', '=', 'pending'),
    waiting,
  );

const eventOf = (approval: Approval, callId: string | null | undefined) => ({
  phase: 'approval',
  approvalId: approval.id,
  callId,
  tool: `${approval.tool}.${approval.action}`,
  arguments: excerptOf(approval.arguments),
  digest: approval.digest,
  untrusted: approval.untrusted,
  reason: approval.reason,
  status: approval.status,
  expiresAt: approval.expiresAt,
});
