import type { AgentSpeaker, Approvals } from '../approvals/module.js';
import { type Expert, modelAndPersona } from '../experts/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { type AgentLimits, FINISHED, readPersona } from './agent.js';
import type { AgentControl } from './control.js';
import type { Models } from './models.js';
import type { AgentRows } from './rows.js';

/** A chat message, its conversation, and the wishes for the agent that answers it. */
interface ChatInput {
  content: string;
  sessionId?: string;
  model?: string;
  topic?: string;
  expert?: Expert;
  /** The user's channel on which it came. A conversation that begins there stays there. */
  via?: {
    channelId: string;
    kind: ChannelKind;
    /** Returns the steps that are committed together with the message. */
    steps(sessionId: string): TransactionStep[];
  };
  /** The sender, if the message may decide on an approval of the agent. */
  by?: AgentSpeaker;
  /** Throws if this sender may not give the agent, or one after it, the message. */
  check?(agent: AgentRow): void | Promise<void>;
}

/**
 * Creates the function that handles a chat message: the agent at work in the session reads it, or
 * the newest one takes it as its next turn. A new agent begins if there is no session, if the last
 * agent is removed or has used up its limits, or if another model, topic or expert is wished for.
 * Errors: NoSession, SessionBusy; with `by` also DecisionRefused and NotOpen.
 */
export const createChat =
  (deps: {
    rows: AgentRows;
    control: AgentControl;
    models: Models;
    approvals: Pick<Approvals, 'spoken'>;
  }) =>
  async (userId: string, input: ChatInput): Promise<{ sessionId: string; agentId: string }> => {
    const { rows, control, models, approvals } = deps;
    const { content, sessionId, via, by } = input;
    const speaker = sessionId === undefined ? undefined : await rows.speaker(userId, sessionId);
    if (by && speaker && (await approvals.spoken(speaker, content, by))) {
      return { sessionId: speaker.session_id, agentId: speaker.id };
    }
    if (speaker) await input.check?.(speaker);
    if (speaker && !isSpent(speaker) && suits(speaker, input)) {
      await control.message(speaker, content, via?.steps(speaker.session_id));
      return { sessionId: speaker.session_id, agentId: speaker.id };
    }
    const spawned = await control.spawn({
      userId,
      prompt: content,
      ...(speaker?.expert && { persona: readPersona(speaker.expert) }),
      ...modelAndPersona(models, { ...input, otherwise: speaker?.model }),
      ...(sessionId !== undefined && { sessionId }),
      channel: via?.kind ?? 'chat',
      ...(via && { channelId: via.channelId, also: via.steps }),
      untrusted: false,
      lane: userId,
    });
    return { sessionId: spawned.sessionId, agentId: spawned.id };
  };

export type Chat = ReturnType<typeof createChat>;

const suits = (agent: AgentRow, { model, topic, expert }: ChatInput): boolean =>
  (model === undefined || model === agent.model) &&
  (topic === undefined || topic === agent.topic) &&
  (!expert || (agent.expert !== null && readPersona(agent.expert).id === expert.id));

/**
 * True if a finished agent has used up its limits. A conversation may go on for longer than the
 * limits of one agent.
 */
const isSpent = (agent: AgentRow): boolean => {
  if (!FINISHED.includes(agent.status)) return false;
  const { maxSteps, maxSeconds, maxTokens, maxCostUsd }: AgentLimits = JSON.parse(agent.limits);
  return (
    agent.steps >= maxSteps ||
    agent.active_ms >= maxSeconds * 1000 ||
    agent.input_tokens + agent.output_tokens >= maxTokens ||
    (agent.cost_usd > 0 && agent.cost_usd >= maxCostUsd)
  );
};
