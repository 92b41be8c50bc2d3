import type { AgentRow } from '../../store/tables/agents.js';
import type { AgentOutcome } from '../agents/ending.js';
import { excerpt } from '../agents/excerpt.js';
import type { Approval } from '../approvals/approval.js';
import { eventOf, type Run } from '../hooks/run.js';
import type { OutgoingEvent } from '../outbox/events.js';

/** Whoever wants all of it follows the links. */
const IN_DATA = 2000;

/**
 * An agent's end. Ours: a sub-agent's end is its parent's affair. It has no effect id: the move of
 * the agent, in the same transaction, happens once, and an agent may end again after a message.
 */
export const agentEnded = (agent: AgentRow, outcome: AgentOutcome): OutgoingEvent => ({
  type: `agent.${outcome.status}`,
  data: {
    agentId: agent.id,
    name: agent.name,
    status: outcome.status,
    model: agent.model,
    untrusted: agent.untrusted === 1,
    hookId: agent.hook_id,
    executionId: agent.execution_id,
    ...(outcome.status === 'completed' && { result: excerpt(outcome.result, IN_DATA) }),
    ...(outcome.status === 'failed' && { error: excerpt(outcome.error, IN_DATA) }),
    links: {
      agent: `/api/agents/${agent.id}`,
      messages: `/api/sessions/${agent.session_id}/messages`,
    },
  },
});

/** A run of a hook, as far as its event tells of it. */
export interface EndedRun {
  executionId: string;
  hookId: string;
  hookName: string;
  trigger: string;
  action: string;
  /** What the sender called it, or what fired the hook. */
  event: string | null;
  agentId: string | null;
}

export interface RunEnd {
  status: 'success' | 'error' | 'skipped' | 'interrupted';
  result?: unknown;
  error?: string;
}

/** The end of a hook's run. Ours: one that the hook's own rules stopped did not run. */
export const hookRan = (run: EndedRun, end: RunEnd): OutgoingEvent | null => {
  const { status, result, error } = end;
  if (status === 'skipped') return null;
  const { hookId, executionId, agentId } = run;
  return {
    type: status === 'success' ? 'hook.executed' : 'hook.failed',
    data: {
      ...run,
      status,
      ...(result !== undefined && { result: excerpt(textOf(result), IN_DATA) }),
      ...(error !== undefined && { error: excerpt(error, IN_DATA) }),
      links: {
        hook: `/api/hooks/${hookId}`,
        execution: `/api/hooks/${hookId}/executions/${executionId}`,
        ...(agentId !== null && { agent: `/api/agents/${agentId}` }),
      },
    },
    effectId: executionId,
  };
};

export const endedRun = (run: Run): EndedRun => ({
  executionId: run.execution.id,
  hookId: run.hook.id,
  hookName: run.hook.name,
  trigger: run.execution.trigger,
  action: run.hook.action,
  event: eventOf(run),
  agentId: run.execution.agent_id,
});

const textOf = (result: unknown): string =>
  typeof result === 'string' ? result : (JSON.stringify(result) ?? '');

/** A call that waits for its owner's word. Its arguments, which may be anything, are at the link. */
export const approvalRequested = (approval: Approval, asker: string): OutgoingEvent => ({
  type: 'approval.requested',
  data: {
    approvalId: approval.id,
    agentId: approval.agentId,
    asker,
    tool: approval.tool,
    action: approval.action,
    digest: approval.digest,
    untrusted: approval.untrusted,
    expiresAt: approval.expiresAt,
    links: { approval: `/api/chat/approvals/${approval.id}` },
  },
  effectId: approval.id,
});
