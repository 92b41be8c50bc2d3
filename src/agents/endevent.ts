import { excerpt } from '../kernel/excerpt.js';
import { LONGEST_IN_EVENT, type OutgoingEvent } from '../outbound/eventfanout.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { AgentOutcome } from './end.js';

/**
 * Returns the event for the end of an agent. Ours: the end of a sub-agent concerns only its parent.
 * The event has no effect id: the agent's change of state, in the same transaction, happens once,
 * and an agent may end again after a message.
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
    ...(outcome.status === 'completed' && { result: excerpt(outcome.result, LONGEST_IN_EVENT) }),
    ...(outcome.status === 'failed' && { error: excerpt(outcome.error, LONGEST_IN_EVENT) }),
    links: {
      agent: `/api/agents/${agent.id}`,
      messages: `/api/sessions/${agent.session_id}/messages`,
    },
  },
});
