import {
  type Approval,
  type ApprovalRequest,
  CONVERSATION_MS,
  type CommitDecision,
  type ExactCall,
  HOOK_MS,
  onlyPending,
  requestApprovals,
} from '../approvals/module.js';
import { type Queue, removeJobOfAgent } from '../jobs/module.js';
import { truncateArguments } from '../kernel/excerpt.js';
import type { AgentRow } from '../store/tables/agents.js';
import { agentJob } from './move.js';
import { createRecord, type RecordDeps } from './record.js';
import type { AgentRows } from './rows.js';
import { type AgentRun, commitWaiting, type Interruption, type LoopDeps } from './run.js';

export const buildApprovalRequest = (
  agent: AgentRow,
  call: ExactCall,
  why: Pick<
    ApprovalRequest,
    'callId' | 'reason' | 'isUntrusted' | 'grantScopes' | 'definitionDigest'
  >,
): ApprovalRequest => ({
  ...call,
  ...why,
  userId: agent.user_id,
  asker: agent.name,
  ttlMs: agent.hook_id === null ? CONVERSATION_MS : HOOK_MS,
});

/**
 * One transaction stores the status, the approvals, the notification and the hooks that fire.
 * Returns `again` if a decision came first.
 */
export const waitForOwner = async (
  deps: LoopDeps,
  { agent, activeMs }: AgentRun,
  { questions, waiting }: { questions: ApprovalRequest[]; waiting: number },
): Promise<'again' | Interruption> => {
  const { hops } = agent;
  const requests = questions.map((question) => ({ ...question, hops }));
  const { approvals, statements, published } = requestApprovals(deps, requests);
  const consequence = await deps.followers.executions.approvalsRequested(agent, approvals);
  const record = createRecord(deps, agent)
    .add(onlyPending(deps.store, { agentId: agent.id, count: waiting }))
    .add(...statements);
  for (const [at, approval] of approvals.entries()) {
    record.event('agent.tool_call', buildApprovalEvent(approval, questions[at]?.callId));
  }
  record
    .move(['running'], 'waiting_approval', { active_ms: activeMs() })
    .add(removeJobOfAgent(agent.id), ...consequence.statements);
  const outcome = await commitWaiting(record);
  if (outcome !== 'waiting') return outcome;
  published();
  consequence.committed();
  return outcome;
};

const buildApprovalEvent = (approval: Approval, callId: string | null | undefined) => ({
  phase: 'approval',
  approvalId: approval.id,
  callId,
  tool: `${approval.tool}.${approval.action}`,
  arguments: truncateArguments(approval.arguments),
  digest: approval.digest,
  untrusted: approval.untrusted,
  reason: approval.reason,
  status: approval.status,
  expiresAt: approval.expiresAt,
});

/** Null if the agent is gone. */
export const findWaitingAgent =
  (deps: RecordDeps & { rows: AgentRows; queue: Queue }) =>
  async (id: string): Promise<CommitDecision | null> => {
    const agent = await deps.rows.byId(id);
    if (!agent) return null;
    return async (steps, { approval, status, others }) => {
      const goesOn = agent.status === 'waiting_approval' && others === 0;
      const record = createRecord(deps, agent)
        .add(...steps)
        .event('agent.tool_call', {
          phase: 'approval',
          approvalId: approval.id,
          callId: approval.call_id,
          tool: `${approval.tool}.${approval.action}`,
          status,
        });
      if (goesOn) record.move(['waiting_approval'], 'queued').add(agentJob(agent, record.at));
      else record.only([agent.status]);
      await record.commit();
      if (goesOn) deps.queue.added(agent.lane);
    };
  };
