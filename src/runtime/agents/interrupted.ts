import type { ToolCall } from '../../providers/llm/model.js';
import type { Store } from '../../store/store.js';
import type { AgentRow } from '../../store/tables.js';
import type { AgentRows } from './rows.js';

/** Tool calls of the last answer that have no result yet, and whether each had begun. */
export const unanswered = async (
  { rows }: { store: Store; rows: AgentRows },
  agent: AgentRow,
): Promise<{ call: ToolCall; hasBegun: boolean }[]> => {
  const { turns } = await rows.turns(agent.session_id);
  const last = turns.findLastIndex((turn) => turn.role === 'assistant');
  const answer = turns[last];
  if (answer?.role !== 'assistant' || answer.toolCalls.length === 0) return [];
  const answered = new Set(
    turns.slice(last).flatMap((turn) => (turn.role === 'tool' ? [turn.toolCallId] : [])),
  );
  const open = answer.toolCalls.filter(({ id }) => !answered.has(id));
  if (open.length === 0) return [];
  const { events } = await rows.events(agent.id, 0, 200);
  const begun = new Set(
    events
      .filter(({ type, data }) => type === 'agent.tool_call' && data.phase === 'call')
      .map(({ data }) => data.callId),
  );
  return open.map((call) => ({ call, hasBegun: begun.has(call.id) }));
};
