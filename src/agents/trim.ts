import { textTokens } from '../providers/llm/tokens.js';
import type { SaidRow } from './turns.js';

/** What was left out of a conversation so that it fits. */
export interface DroppedContext {
  /** Tool results of which only a note is left. */
  results: number;
  /** Messages and answers that are gone, with their calls and results. */
  messages: number;
}

export interface Trimmed {
  rows: SaidRow[];
  dropped: DroppedContext | null;
}

/** Shorter ones are not worth a note. */
const WORTH_DROPPING = 400;

/**
 * The conversation, shorter by at least so many tokens where that can be: first the agent's older
 * tool results, then what was said in the session before its task, then its older answers with their
 * calls, always the oldest first. Never its task with the payload, what its owner has said since, its
 * newest answer, nor the results of that.
 */
export const trim = (rows: SaidRow[], agentId: string, excess: number): Trimmed => {
  if (excess <= 0) return { rows, dropped: null };
  const task = rows.findIndex((row) => row.role === 'user' && row.agent_id === agentId);
  const newest = rows.findLastIndex(({ role }) => role === 'assistant');
  const cutting: Cutting = { left: excess, kept: new Map(rows.entries()), results: 0, messages: 0 };
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

/** What the model is told of it. */
export const noteOf = ({ results, messages }: DroppedContext): string =>
  `To fit your context, the oldest of this conversation was left out: ${results} tool results, ` +
  `${messages} other messages. Do not rely on memory for what they said.`;

interface Cutting extends DroppedContext {
  /** Tokens that are still too many. */
  left: number;
  /** By their place in the conversation. */
  kept: Map<number, SaidRow>;
}

const shorten = (cutting: Cutting, at: number, row: SaidRow): void => {
  if (cutting.left <= 0 || row.content.length < WORTH_DROPPING) return;
  const content = `[Left out to fit your context: ${row.content.length} characters. Call the tool again if you need them.]`;
  cutting.kept.set(at, { ...row, content });
  cutting.left -= textTokens(row.content) - textTokens(content);
  cutting.results++;
};

/** An answer goes with the results of its calls: no model takes the one without the other. */
const remove = (cutting: Cutting, at: number, row: SaidRow, rows: SaidRow[] = []): void => {
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
