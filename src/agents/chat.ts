import type { AgentMessageSender, Approvals } from '../approvals/module.js';
import { type Expert, modelAndPersona } from '../experts/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ChannelKind } from '../store/tables/channels.js';
import { type AgentLimits, FINISHED, readPersona } from './agent.js';
import type { AgentControl } from './control.js';
import type { Models } from './models.js';
import type { AgentRows } from './rows.js';

interface ChatInput {
  content: string;
  sessionId?: string;
  model?: string;
  topic?: string;
  expert?: Expert;
  /** Channel that the message came from. A conversation that starts there stays there. */
  via?: {
    channelId: string;
    kind: ChannelKind;
    /** Steps to commit together with the message. */
    steps(sessionId: string): TransactionStep[];
  };
  /** Sender, if the message may decide on an approval. */
  by?: AgentMessageSender;
  /** Throws if the sender may not send the agent a message. */
  check?(agent: AgentRow): void | Promise<void>;
}

/**
 * The message goes to the active agent of the session, or starts the next turn of the newest one. A
 * new agent starts if there is none, if it has used up its limits, or if another model, topic or
 * expert is requested. Errors: SessionNotFound, SessionBusy; with `by` also DecisionRefused and NotOpen.
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
      memberId: by?.member?.userId,
      prompt: content,
      ...(speaker?.expert && { persona: readPersona(speaker.expert) }),
      ...modelAndPersona(models, { ...input, userId, otherwise: speaker?.model }),
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

/** A conversation may last longer than the limits of one agent. */
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
