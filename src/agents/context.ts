import type { ToolSpec, Turn } from '../providers/llm/model.js';
import { estimateTokens } from '../providers/llm/tokens.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ModelConstraints, Models } from './models.js';
import { systemPrompt } from './systemprompt.js';
import { type DroppedContext, noteOf, trim } from './trim.js';
import { type SaidRow, turnsOf } from './turns.js';

/** The part of an agent's session that a model is given, and what was left out so that it fits. */
export interface ModelContext {
  turns: Turn[];
  dropped: DroppedContext | null;
}

/** The tokens of the note that lists what was left out. */
const NOTE_TOKENS = 100;

/**
 * Returns the conversation, shortened as far as possible to fit the model that is likely to answer.
 */
export const conversationOf = (
  models: Pick<Models, 'room'>,
  agent: AgentRow,
  { rows, wanted, tools }: { rows: SaidRow[]; wanted: ModelConstraints; tools: ToolSpec[] },
): ModelContext => {
  const whole = [systemTurn(agent), ...turnsOf(rows)];
  const excess = estimateTokens(whole, tools) - models.room(wanted);
  if (excess <= 0) return { turns: whole, dropped: null };
  const { rows: kept, dropped } = trim(rows, agent.id, excess + NOTE_TOKENS);
  if (!dropped) return { turns: whole, dropped };
  return { turns: [systemTurn(agent, noteOf(dropped)), ...turnsOf(kept)], dropped };
};

const systemTurn = (agent: AgentRow, ...notes: string[]): Turn => ({
  role: 'system',
  content: systemPrompt(agent, ...notes),
});
