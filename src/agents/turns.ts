import type { ReplyReasoning, ToolCall, Turn } from '../providers/llm/model.js';
import type { Generation, TranscriptMessageRow } from '../store/tables/agents.js';

interface ReplyGeneration extends Generation {
  reasoning?: ReplyReasoning;
}

export const INTERRUPTED =
  'Interrupted while running. It is unknown whether the call took effect. It is not retried automatically.';

/**
 * A message that arrived while a model wrote its reply follows the reply, which did not know it.
 */
export const inReadingOrder = (rows: TranscriptMessageRow[]): TranscriptMessageRow[] => {
  const ordered: TranscriptMessageRow[] = [];
  let unread: TranscriptMessageRow[] = [];
  for (const row of rows) {
    if (row.role !== 'system') ordered.push(...unread.splice(0));
    const seen = parseGeneration(row)?.seen;
    if (seen !== undefined) {
      const from = ordered.findLastIndex((each) => each.seq <= seen) + 1;
      unread = ordered.slice(from).filter(({ role }) => role === 'user');
      const read = ordered.slice(from).filter(({ role }) => role !== 'user');
      ordered.splice(from, ordered.length, ...read);
    }
    ordered.push(row);
  }
  return [...ordered, ...unread];
};

const parseGeneration = ({ generation }: TranscriptMessageRow): ReplyGeneration | null =>
  generation === null ? null : JSON.parse(generation);

/** The results of calls directly follow the reply that requested them. Every call has a result. */
export const buildTurns = (rows: TranscriptMessageRow[]): Turn[] => {
  const results = resultsIn(rows);
  return rows.flatMap((row): Turn[] => {
    if (row.role === 'tool') return [];
    if (row.role !== 'assistant') return [{ role: row.role, content: row.content }];
    const toolCalls = parseToolCalls(row);
    const toolTurns = toolCalls.map(({ id, name }) => ({
      role: 'tool' as const,
      toolCallId: id,
      toolName: name,
      content: results.get(id) ?? INTERRUPTED,
    }));
    const reasoning = parseGeneration(row)?.reasoning;
    return [
      { role: 'assistant', content: row.content, toolCalls, ...(reasoning && { reasoning }) },
      ...toolTurns,
    ];
  });
};

/** `isOverridden`: the user has sent a message since. */
export const findOpenCalls = (
  rows: TranscriptMessageRow[],
  agentId: string,
): { calls: ToolCall[]; isOverridden: boolean } => {
  const at = rows.findLastIndex((row) => row.role === 'assistant');
  const reply = rows[at];
  if (reply?.agent_id !== agentId) return { calls: [], isOverridden: false };
  const results = resultsIn(rows);
  return {
    calls: parseToolCalls(reply).filter(({ id }) => !results.has(id)),
    // The late result of a sub-agent has its own agent ID. It is not an instruction of the user.
    isOverridden: rows.slice(at).some((row) => row.role === 'user' && row.agent_id === agentId),
  };
};

export const parseToolCalls = ({ tool_calls }: TranscriptMessageRow): ToolCall[] =>
  tool_calls === null ? [] : JSON.parse(tool_calls);

const resultsIn = (rows: TranscriptMessageRow[]): Map<string, string> =>
  new Map(
    rows.flatMap(({ tool_call_id, content }) =>
      tool_call_id === null ? [] : [[tool_call_id, content] as const],
    ),
  );
