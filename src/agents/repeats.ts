import { canonical } from '../kernel/jsonvalue.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { TranscriptMessageRow } from '../store/tables/agents.js';
import { parseToolCalls } from './turns.js';

/** From this repetition on, calls are not run and the model gets a warning. */
export const WARN_AT_REPETITION = 4;
/** At this repetition, the agent fails. */
export const FAIL_AT_REPETITION = 6;

/** Maximum length of a repeated sequence of replies. */
const MAX_CIRCLE_LENGTH = 4;

/**
 * Returns how many times in a row the newest replies requested the same calls. A user message
 * restarts the count.
 */
export const countRepetitions = (
  rows: TranscriptMessageRow[],
  agentId: string,
  newest?: ToolCall[],
): number => {
  const since = rows.slice(rows.findLastIndex(({ role }) => role === 'user') + 1);
  const replies = since
    .filter(({ role, agent_id }) => role === 'assistant' && agent_id === agentId)
    .map(parseToolCalls);
  const signs = [...replies, ...(newest ? [newest] : [])].map(computeCallSignature);
  const circles = Array.from({ length: MAX_CIRCLE_LENGTH }, (_, at) => timesAround(signs, at + 1));
  return Math.max(1, ...circles);
};

/** Calls with unreadable arguments count as equal, whatever their text. */
const computeCallSignature = (calls: ToolCall[]): string =>
  calls
    .map(({ name, arguments: args, fault }) => canonical([name, fault === undefined ? args : '']))
    .sort()
    .join();

const timesAround = (signs: string[], circle: number): number => {
  let same = 0;
  for (let at = signs.length - 1; at >= circle && signs[at] === signs[at - circle]; at--) same++;
  return Math.floor(same / circle) + 1;
};
