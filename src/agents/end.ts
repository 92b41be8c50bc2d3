import type { Queue } from '../jobs/queue.js';
import { removeJobOfAgent } from '../jobs/statements.js';
import type { ToWebhooks } from '../outbound/eventfanout.js';
import type { Notice, Outbox, Posting } from '../outbound/outbox.js';
import type { Statement } from '../store/engine/protocol.js';
import type { AgentRow, AgentStatus } from '../store/tables/agents.js';
import type { RunningLoop } from './control.js';
import { agentEnded } from './endevent.js';
import { endExecution } from './execution.js';
import { type MovingDeps, moveUnder } from './move.js';
import { type AgentRecord, createRecord } from './record.js';
import { wakeParent } from './subagents.js';
import { taintParent } from './taint.js';

export type AgentOutcome =
  | { status: 'completed'; result: string }
  | { status: 'failed'; error: string };

const RUNNING: AgentStatus[] = ['running'];
/**
 * The states from which an agent can fail. A loop that cannot even begin leaves its agent queued.
 */
const UNENDED: AgentStatus[] = ['queued', 'running'];

/** Statements that belong to the end of an agent, and what to do after their commit. */
export interface Consequence {
  statements: Statement[];
  committed(): void;
}

export interface EndingDeps extends MovingDeps {
  outbox: Outbox;
  toWebhooks: ToWebhooks;
  queue: Pick<Queue, 'added'>;
  running: Map<string, RunningLoop>;
  /** Returns the statements for the hooks that fire when an agent ends. */
  consequences(agent: AgentRow, outcome: AgentOutcome): Promise<Consequence>;
  executionEnded(agent: AgentRow): void;
  /**
   * Returns the notification about the failed execution that spawned the agent; null if none is
   * due.
   */
  executionFailure(agent: AgentRow, error: string): Promise<Notice | null>;
}

/**
 * Ends an agent. One transaction contains its state, its execution's outcome, the end of its job,
 * the notification to its owner, the events for webhooks, the hooks that its end fires, and its
 * parent's continuation. If it failed, the same transaction stops its sub-agents. Throws Unmet if
 * it can no longer end this way.
 */
export const endAgent = async (
  deps: EndingDeps,
  agent: AgentRow,
  outcome: AgentOutcome,
  before: (record: AgentRecord) => AgentRecord = (record) => record,
): Promise<void> => {
  const { store } = deps;
  const record = before(createRecord(deps, agent));
  const ended =
    outcome.status === 'completed' ? { result: outcome.result } : { error: outcome.error };
  const consequence = await deps.consequences(agent, outcome);
  const from = outcome.status === 'completed' ? RUNNING : UNENDED;
  const told = await postingsOf(deps, agent, outcome);
  const orphaned = outcome.status === 'failed' ? await moveUnder(deps, agent, 'stop') : null;
  record
    .move(from, outcome.status, { ...ended, finished_at: record.at })
    .add(
      removeJobOfAgent(store, agent.id),
      ...taintParent(store, agent),
      ...wakeParent(store, { ...agent, ...ended, status: outcome.status }, record.at),
      ...endExecution(store, agent, executionOutcome(outcome), record.at),
      ...consequence.statements,
      ...told.flatMap(({ statements }) => statements),
    );
  for (const move of orphaned?.moves ?? []) record.join(move);
  await record.commit();
  for (const { published } of told) published();
  orphaned?.published();
  consequence.committed();
  for (const { id } of orphaned?.under ?? []) deps.running.get(id)?.abort();
  if (agent.parent_id !== null) deps.queue.added(agent.lane);
  deps.executionEnded(agent);
};

/**
 * Returns the notification and the events about the end of an agent. The end of a sub-agent has no
 * event of its own.
 */
const postingsOf = async (
  deps: EndingDeps,
  agent: AgentRow,
  outcome: AgentOutcome,
): Promise<Posting[]> => {
  const { outbox, toWebhooks, executionEvent } = deps;
  const postings = [
    await executionEvent(agent, executionOutcome(outcome)),
    ...(await deps.restOfNotices(agent)),
  ];
  if (agent.parent_id === null)
    postings.push(toWebhooks(agent.user_id, { ...agentEnded(agent, outcome), hops: agent.hops }));
  const message =
    agent.notify_owner === 1
      ? messageOf(agent, outcome)
      : outcome.status === 'failed' && (await deps.executionFailure(agent, outcome.error));
  if (message) postings.push(outbox.toOwner(agent.user_id, { ...message, hops: agent.hops }));
  return postings;
};

const executionOutcome = (outcome: AgentOutcome) =>
  outcome.status === 'completed'
    ? { status: 'success' as const, result: outcome.result }
    : { status: 'error' as const, error: outcome.error };

const messageOf = (agent: AgentRow, outcome: AgentOutcome): Notice => {
  const body = outcome.status === 'completed' ? outcome.result : outcome.error;
  const headline = body.trim().split('\n', 1)[0] ?? '';
  return {
    kind: `agent_${outcome.status}`,
    title: `${agent.name}: ${headline}`,
    body,
    link: `/api/agents/${agent.id}`,
    isDirect: true,
  };
};
