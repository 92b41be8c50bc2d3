import type { ServerSentEvent } from '../../kernel/contract/endpoint.js';
import type { AgentRow } from '../../store/tables/agents.js';
import { type FollowEvent, type FollowingDeps, followReply } from '../continuation.js';
import { viewAnswer } from './view.js';

/**
 * Streams the results of a message: `chat` first, then the agent's events under their own names and
 * numbers, the text of its replies as `delta` while it is written, and `done` with the answer. A
 * client that sends the number of an event as `Last-Event-ID` gets the events after it.
 */
export async function* eventsOf(
  deps: FollowingDeps,
  agent: AgentRow,
  from: { after: number; signal: AbortSignal },
): AsyncGenerator<ServerSentEvent, void, undefined> {
  yield { event: 'chat', data: viewAnswer(agent) };
  for await (const told of followReply(deps, agent, from)) yield eventOf(told);
  const now = from.signal.aborted ? undefined : await deps.rows.byId(agent.id);
  if (now) yield { event: 'done', data: viewAnswer(now) };
}

const eventOf = (told: FollowEvent): ServerSentEvent => {
  if (told.type === 'idle') return {};
  if (told.type === 'delta') return { event: 'delta', data: { text: told.text } };
  if (told.type === 'gap') return { event: 'gap', data: { oldestId: told.oldestId } };
  const { event } = told;
  return { id: String(event.id), event: event.type, data: event };
};
