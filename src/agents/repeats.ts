import { canonical } from '../kernel/canonicaljson.js';
import type { ToolCall } from '../providers/llm/model.js';
import { callsOf, type SaidRow } from './turns.js';

/** From this repetition on the calls are not run, and the model is told. */
export const TOLD_AT = 4;
/** At this one the agent is ended. */
export const ENDED_AT = 6;

/** How long a circle may be: the same few answers over and over are a loop too. */
const LONGEST_CIRCLE = 4;

/**
 * How many times in a row the newest answer, or the newest few together, asked for exactly the same
 * calls: 1 where nothing is repeated. What others or the agent's owner said in between starts anew.
 */
export const repetitionsOf = (rows: SaidRow[], agentId: string, newest?: ToolCall[]): number => {
  const since = rows.slice(rows.findLastIndex(({ role }) => role === 'user') + 1);
  const answers = since
    .filter(({ role, agent_id }) => role === 'assistant' && agent_id === agentId)
    .map(callsOf);
  const signs = [...answers, ...(newest ? [newest] : [])].map(signOf);
  const circles = Array.from({ length: LONGEST_CIRCLE }, (_, at) => timesAround(signs, at + 1));
  return Math.max(1, ...circles);
};

const signOf = (calls: ToolCall[]): string =>
  calls
    .map(({ name, arguments: args }) => canonical([name, args]))
    .sort()
    .join();

const timesAround = (signs: string[], circle: number): number => {
  let same = 0;
  for (let at = signs.length - 1; at >= circle && signs[at] === signs[at - circle]; at--) same++;
  return Math.floor(same / circle) + 1;
};
