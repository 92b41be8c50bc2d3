import { type Queue, removeJobOfAgent } from '../jobs/module.js';
import { excerpt } from '../kernel/excerpt.js';
import { pageLink } from '../kernel/pagepath.js';
import {
  MAX_IN_EVENT_LENGTH,
  type Notice,
  type OutgoingEvent,
  type QueuedMessage,
} from '../outbound/module.js';
import type { AgentRow, AgentStatus } from '../store/tables/agents.js';
import type { LiveAgents } from './control.js';
import type { AgentOutcome } from './followers.js';
import { endExecution, type TransitionDeps, transitionSubAgents } from './move.js';
import { remainingNotices } from './notifytool.js';
import { type AgentRecord, createRecord } from './record.js';
import { resumeParent } from './subagents.js';
import { taintParent } from './taint.js';

const RUNNING: AgentStatus[] = ['running'];
/** A loop that cannot start leaves its agent queued. */
const UNENDED: AgentStatus[] = ['queued', 'running'];

export interface EndingDeps extends TransitionDeps {
  queue: Pick<Queue, 'added'>;
  live: LiveAgents;
}

/**
 * One transaction ends the agent, its execution and its job, and stores the notifications, events
 * and the continuation of the parent. If the agent failed, it also stops the sub-agents. Throws
 * Unmet if the status has changed.
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
  const from = outcome.status === 'completed' ? RUNNING : UNENDED;
  // Requested in one turn, so that the reader thread gets them in one message.
  const [consequence, messages, orphaned] = await Promise.all([
    deps.followers.ending(agent, outcome),
    endNotifications(deps, agent, outcome),
    outcome.status === 'failed' ? transitionSubAgents(deps, agent, 'stop') : null,
  ]);
  record
    .move(from, outcome.status, { ...ended, note: getOutcomeNote(outcome), finished_at: record.at })
    .add(
      removeJobOfAgent(agent.id),
      ...taintParent(store, agent),
      ...resumeParent(store, { ...agent, ...ended, status: outcome.status }, record.at),
      ...endExecution(agent, executionOutcome(outcome), record.at),
      ...consequence.statements,
      ...messages.flatMap(({ statements }) => statements),
    );
  for (const move of orphaned?.moves ?? []) record.join(move);
  await record.commit();
  for (const { published } of messages) published();
  orphaned?.published();
  consequence.committed();
  for (const { id } of orphaned?.under ?? []) deps.live.running.get(id)?.abort();
  if (agent.parent_id !== null) deps.queue.added(agent.lane);
  deps.followers.ended(agent);
};

const endNotifications = async (
  deps: EndingDeps,
  agent: AgentRow,
  outcome: AgentOutcome,
): Promise<QueuedMessage[]> => {
  const { outbox, toWebhooks } = deps.outbound;
  const { executions } = deps.followers;
  const [event, notices] = await Promise.all([
    executions.event(agent, executionOutcome(outcome)),
    remainingNotices(deps.store, outbox, agent),
  ]);
  const postings = [event, ...notices];
  if (agent.parent_id === null)
    postings.push(toWebhooks(agent.user_id, { ...agentEnded(agent, outcome), hops: agent.hops }));
  const message =
    agent.notify_owner === 1
      ? buildOutcomeNotice(agent, outcome)
      : outcome.status === 'failed' && (await executions.failure(agent, outcome.error));
  if (message) postings.push(outbox.toOwner(agent.user_id, { ...message, hops: agent.hops }));
  return postings;
};

const getOutcomeNote = (outcome: AgentOutcome): string | null =>
  outcome.status === 'completed' ? (outcome.note ?? null) : null;

const executionOutcome = (outcome: AgentOutcome) =>
  outcome.status === 'completed'
    ? { status: 'success' as const, result: outcome.result, note: getOutcomeNote(outcome) }
    : { status: 'error' as const, error: outcome.error };

const buildOutcomeNotice = (agent: AgentRow, outcome: AgentOutcome): Notice => {
  const body = outcome.status === 'completed' ? appendNote(outcome) : outcome.error;
  return {
    kind: `agent_${outcome.status}`,
    title: outcome.status === 'completed' ? agent.name : `${agent.name} failed`,
    body,
    link: pageLink('agent', agent.id),
    isDirect: true,
  };
};

export const appendNote = ({ result, note }: { result: string; note?: string }): string =>
  note === undefined ? result : `${result}\n\n${note}`;

/**
 * Only for root agents. The event has no effect ID, because the status change in the same
 * transaction happens once, and an agent may end again after a message.
 */
const agentEnded = (agent: AgentRow, outcome: AgentOutcome): OutgoingEvent => ({
  type: `agent.${outcome.status}`,
  data: {
    agentId: agent.id,
    name: agent.name,
    status: outcome.status,
    model: agent.model,
    untrusted: agent.untrusted === 1,
    hookId: agent.hook_id,
    executionId: agent.execution_id,
    ...(outcome.status === 'completed' && {
      result: excerpt(outcome.result, MAX_IN_EVENT_LENGTH),
      ...(outcome.note !== undefined && { note: outcome.note }),
    }),
    ...(outcome.status === 'failed' && { error: excerpt(outcome.error, MAX_IN_EVENT_LENGTH) }),
    links: {
      agent: `/api/agents/${agent.id}`,
      messages: `/api/sessions/${agent.session_id}/messages`,
    },
  },
});
