import type { AgentRow } from '../../store/tables/agents.js';
import { type AgentLimits, FINISHED } from './agent.js';
import type { AgentControl } from './control.js';
import type { AgentRows } from './rows.js';

export interface ChatDeps {
  rows: AgentRows;
  control: AgentControl;
  defaultModel(): string;
}

/**
 * A chat message: the agent at work in the session reads it, or the newest one takes it as its next
 * turn. A new one begins without a session, and where the last is removed or has used up its limits.
 * Errors: NoSession, SessionBusy.
 */
export const createChat =
  ({ rows, control, defaultModel }: ChatDeps) =>
  async (
    userId: string,
    { content, sessionId }: { content: string; sessionId?: string },
  ): Promise<{ sessionId: string; agentId: string }> => {
    const speaker = sessionId === undefined ? undefined : await rows.speaker(userId, sessionId);
    if (speaker && !isSpent(speaker)) {
      await control.message(speaker, content);
      return { sessionId: speaker.session_id, agentId: speaker.id };
    }
    const spawned = await control.spawn({
      userId,
      prompt: content,
      model: speaker?.model ?? defaultModel(),
      ...(sessionId !== undefined && { sessionId }),
      channel: 'chat',
      untrusted: false,
      lane: userId,
    });
    return { sessionId: spawned.sessionId, agentId: spawned.id };
  };

/** A conversation may go on for longer than the limits of one agent. */
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
