import type { Statement } from '../store/engine/protocol.js';
import { type Store, statement } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';

/**
 * Builds the statements that write an agent's outcome to the execution that spawned it, in the
 * transaction that ends the agent.
 */
export const endExecution = (
  { db }: Store,
  agent: Pick<AgentRow, 'execution_id'>,
  outcome: { status: 'success'; result: string } | { status: 'error'; error: string },
  at: string,
): Statement[] => {
  if (agent.execution_id === null) return [];
  const ended = {
    status: outcome.status,
    effect: 'done' as const,
    result: outcome.status === 'success' ? JSON.stringify({ text: outcome.result }) : null,
    error: outcome.status === 'error' ? outcome.error : null,
    finished_at: at,
  };
  return [
    statement(
      db
        .updateTable('executions')
        .set(ended)
        .where('id', '=', agent.execution_id)
        .where('status', 'in', ['running', 'queued']),
    ),
  ];
};
