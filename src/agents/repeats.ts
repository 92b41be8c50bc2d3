import { canonical } from '../kernel/jsonvalue.js';
import type { ToolCall } from '../providers/llm/model.js';
import type { SaidRow } from '../store/tables/agents.js';
import { callsOf } from './turns.js';

/** The repetition from which on the calls are not run, and the model is told. */
export const TOLD_AT = 4;
/** The repetition at which the agent is ended. */
export const ENDED_AT = 6;

/** The maximum length of a repeated sequence: the same few replies over and over are a loop too. */
const MAX_CIRCLE_LENGTH = 4;

/**
 * Returns how many times in a row the newest reply, or the newest few together, requested exactly
 * the same calls: 1 if nothing is repeated. A message from the owner or from others in between
 * restarts the count.
 */
export const repetitionsOf = (rows: SaidRow[], agentId: string, newest?: ToolCall[]): number => {
  const since = rows.slice(rows.findLastIndex(({ role }) => role === 'user') + 1);
  const replies = since
    .filter(({ role, agent_id }) => role === 'assistant' && agent_id === agentId)
    .map(callsOf);
  const signs = [...replies, ...(newest ? [newest] : [])].map(signOf);
  const circles = Array.from({ length: MAX_CIRCLE_LENGTH }, (_, at) => timesAround(signs, at + 1));
  return Math.max(1, ...circles);
};

/** Calls of a tool with arguments that cannot be parsed count as the same, whatever their text was. */
const signOf = (calls: ToolCall[]): string =>
  calls
    .map(({ name, arguments: args, fault }) => canonical([name, fault === undefined ? args : '']))
    .sort()
    .join();

const timesAround = (signs: string[], circle: number): number => {
  let same = 0;
  for (let at = signs.length - 1; at >= circle && signs[at] === signs[at - circle]; at--) same++;
  return Math.floor(same / circle) + 1;
};
