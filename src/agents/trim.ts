import { textTokens } from '../providers/llm/tokens.js';
import type { TranscriptMessageRow } from '../store/tables/agents.js';

export interface DroppedContext {
  /** Tool results replaced by a note. */
  results: number;
  /** Removed messages and replies, with their calls and results. */
  messages: number;
}

/** Shorter results are not worth replacing, in characters. */
const WORTH_DROPPING = 400;

/**
 * Removes the oldest tool results first, then messages before the task, then older replies with
 * their calls. The task, later messages of the owner, and the newest reply with its results are
 * never removed.
 */
export const trimConversation = (
  rows: TranscriptMessageRow[],
  agentId: string,
  excess: number,
): { rows: TranscriptMessageRow[]; dropped: DroppedContext | null } => {
  if (excess <= 0) return { rows, dropped: null };
  const task = rows.findIndex((row) => row.role === 'user' && row.agent_id === agentId);
  const newest = rows.findLastIndex(({ role }) => role === 'assistant');
  const cutting: TrimState = {
    left: excess,
    kept: new Map(rows.entries()),
    results: 0,
    messages: 0,
  };
  for (const [at, row] of rows.entries()) {
    if (at < newest && row.role === 'tool') shorten(cutting, at, row);
  }
  for (const [at, row] of rows.entries()) {
    if (at < task) remove(cutting, at, row);
  }
  for (const [at, row] of rows.entries()) {
    if (at > task && at < newest && row.role === 'assistant') remove(cutting, at, row, rows);
  }
  const { kept, results, messages } = cutting;
  const hasDropped = results + messages > 0;
  return { rows: [...kept.values()], dropped: hasDropped ? { results, messages } : null };
};

export const formatTrimNote = ({ results, messages }: DroppedContext): string =>
  `The oldest parts of this conversation were removed to fit your context window: ` +
  `${results} tool results, ${messages} other messages. Do not guess their content.`;

interface TrimState extends DroppedContext {
  left: number;
  kept: Map<number, TranscriptMessageRow>;
}

const shorten = (cutting: TrimState, at: number, row: TranscriptMessageRow): void => {
  if (cutting.left <= 0 || row.content.length < WORTH_DROPPING) return;
  const content = `[Removed to fit your context window: ${row.content.length} characters. Call the tool again if you need them.]`;
  cutting.kept.set(at, { ...row, content });
  cutting.left -= textTokens(row.content) - textTokens(content);
  cutting.results++;
};

/** No model accepts calls without results, or the reverse. */
const remove = (
  cutting: TrimState,
  at: number,
  row: TranscriptMessageRow,
  rows: TranscriptMessageRow[] = [],
): void => {
  if (cutting.left <= 0) return;
  cutting.kept.delete(at);
  cutting.left -= textTokens(row.content) + textTokens(row.tool_calls ?? '');
  cutting.messages++;
  const next = rows.findIndex(({ role }, place) => place > at && role === 'assistant');
  for (const [place, { role }] of rows.entries()) {
    if (place <= at || place >= next || role !== 'tool') continue;
    cutting.left -= textTokens(cutting.kept.get(place)?.content ?? '');
    cutting.kept.delete(place);
  }
};
