import { type AgentOutcome, appendNote, type FollowUp } from '../agents/module.js';
import type { Queue } from '../jobs/module.js';
import type { Clock } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { addOutboundMessage, getMessageLane } from '../outbound/module.js';
import type { Store } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { MessageContent } from './messagetext.js';

export interface ChannelResultsDeps {
  store: Store;
  clock: Clock;
  queue: Pick<Queue, 'added'>;
}

const NONE: FollowUp = { statements: [], committed: () => undefined };

/**
 * Part of the transaction that ends the agent, so it happens once. No preference applies, since the
 * owner requested it. The channel gets the result even if the last prompt came from the app, so
 * that it has the whole conversation.
 */
export const channelResults =
  (deps: ChannelResultsDeps) =>
  async (agent: AgentRow, outcome: AgentOutcome): Promise<FollowUp> => {
    if (agent.parent_id !== null) return NONE;
    const { user_id: userId, session_id: sessionId } = agent;
    const channelId = await deps.store.look('resultChannel', { userId, sessionId });
    if (!channelId) return NONE;
    const body =
      outcome.status === 'completed' ? appendNote(outcome) : `The agent failed: ${outcome.error}`;
    const content: MessageContent = { body };
    const message = {
      userId,
      target: { channelId },
      kind: `agent_${outcome.status}`,
      content,
      // An agent may end several times; each end is a separate cause.
      causeId: mint('answer', deps.clock.now()),
      hops: agent.hops,
    };
    return {
      statements: addOutboundMessage(deps, message),
      committed: () => deps.queue.added(getMessageLane(message)),
    };
  };
