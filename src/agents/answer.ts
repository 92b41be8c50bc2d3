import { excerpt } from '../kernel/excerpt.js';
import { mint } from '../kernel/ids.js';
import type { StepReply, ToolCall } from '../providers/llm/model.js';
import { callsOf, type SaidRow } from './turns.js';

const LONGEST_TEXT = 262_144;
const LONGEST_ARGUMENTS = 2_097_152;
const MOST_CALLS = 32;
const DEEPEST = 64;

/** What is kept of a reply, and run. */
export interface ModelAnswer {
  text: string;
  toolCalls: ToolCall[];
  /** Calls that were too many, too long or nested too deep. */
  dropped: number;
}

/**
 * A reply within bounds. A model may use one id for two calls, or names that no provider would read
 * again: ids become unique within the session, names harmless.
 */
export const answerOf = (reply: StepReply, rows: SaidRow[], now: number): ModelAnswer => {
  const used = new Set(rows.flatMap(callsOf).map(({ id }) => id));
  const toolCalls = reply.toolCalls.filter(isBounded).slice(0, MOST_CALLS);
  return {
    text: excerpt(reply.text, LONGEST_TEXT),
    toolCalls: toolCalls.map((call) => ({
      id: unusedId(call.id, used, now),
      name: call.name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unnamed',
      arguments: call.arguments,
    })),
    dropped: reply.toolCalls.length - toolCalls.length,
  };
};

const isBounded = ({ arguments: args }: ToolCall): boolean =>
  isShallow(args) && JSON.stringify(args).length <= LONGEST_ARGUMENTS;

/** What is nested deeper could not be written as JSON again. */
const isShallow = (value: unknown, deepest = DEEPEST): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (deepest > 0 && Object.values(value).every((member) => isShallow(member, deepest - 1)));

/** Nine letters and digits where the model's own will not do: what even Mistral takes for an id. */
const unusedId = (given: string, used: Set<string>, now: number): string => {
  const isGood = /^[\w-]{1,64}$/.test(given) && !used.has(given);
  const id = isGood ? given : mint('call', now).slice(-9);
  used.add(id);
  return id;
};
