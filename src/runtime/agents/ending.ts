import type { Statement } from '../../store/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { AgentRow, AgentStatus } from '../../store/tables/agents.js';
import { removeJobOfAgent } from '../jobs/statements.js';
import type { Message, Outbox } from '../outbox/outbox.js';
import { type AgentRecord, createRecord, type RecordDeps } from './record.js';

export type AgentOutcome =
  | { status: 'completed'; result: string }
  | { status: 'failed'; error: string };

const RUNNING: AgentStatus[] = ['running'];
/** A loop that cannot even begin leaves its agent queued. */
const UNENDED: AgentStatus[] = ['queued', 'running'];

/** Statements that belong to the end of an agent, and what is to be done after their commit. */
export interface Consequence {
  statements: Statement[];
  committed(): void;
}

export interface EndingDeps extends RecordDeps {
  outbox: Outbox;
  /** The hooks that fire when an agent ends. */
  consequences(agent: AgentRow, outcome: AgentOutcome): Promise<Consequence>;
  executionEnded(agent: AgentRow): void;
}

/**
 * Ends an agent: its state, its execution's outcome, its job's end, the message to its owner and the
 * hooks that its end fires are one transaction. Unmet where it cannot end so any more.
 */
export const endAgent = async (
  deps: EndingDeps,
  agent: AgentRow,
  outcome: AgentOutcome,
  before: (record: AgentRecord) => AgentRecord = (record) => record,
): Promise<void> => {
  const { store, outbox } = deps;
  const record = before(createRecord(deps, agent));
  const ended =
    outcome.status === 'completed' ? { result: outcome.result } : { error: outcome.error };
  const consequence = await deps.consequences(agent, outcome);
  const from = outcome.status === 'completed' ? RUNNING : UNENDED;
  const posting =
    agent.notify_owner === 1 ? outbox.toOwner(agent.user_id, messageOf(agent, outcome)) : null;
  await record
    .move(from, outcome.status, { ...ended, finished_at: record.at })
    .add(
      removeJobOfAgent(store, agent.id),
      ...endExecution(store, agent, executionOutcome(outcome), record.at),
      ...consequence.statements,
      ...(posting?.statements ?? []),
    )
    .commit();
  posting?.published();
  consequence.committed();
  deps.executionEnded(agent);
};

/** The execution that spawned an agent takes its outcome, in the transaction that ends the agent. */
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

const executionOutcome = (outcome: AgentOutcome) =>
  outcome.status === 'completed'
    ? { status: 'success' as const, result: outcome.result }
    : { status: 'error' as const, error: outcome.error };

const messageOf = (agent: AgentRow, outcome: AgentOutcome): Message => {
  const body = outcome.status === 'completed' ? outcome.result : outcome.error;
  const headline = body.trim().split('\n', 1)[0] ?? '';
  return {
    kind: `agent_${outcome.status}`,
    title: `${agent.name}: ${headline}`,
    body,
    link: `/api/agents/${agent.id}`,
  };
};
