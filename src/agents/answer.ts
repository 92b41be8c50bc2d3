import { excerpt } from '../kernel/excerpt.js';
import { mint } from '../kernel/ids.js';
import type { StepReply, ToolCall } from '../providers/llm/model.js';
import { callsOf, type SaidRow } from './turns.js';

const LONGEST_TEXT = 262_144;
const LONGEST_ARGUMENTS = 2_097_152;
const MOST_CALLS = 32;
const DEEPEST = 64;

/** The part of a model's reply that is stored and executed. */
export interface ModelAnswer {
  text: string;
  toolCalls: ToolCall[];
  /** The number of calls that were left out: too many, too long or nested too deep. */
  dropped: number;
}

/**
 * Limits a reply in size. A model may use one id for two calls, or names that no provider would
 * accept again: ids become unique within the session, and names harmless.
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

/** True if the value is not nested too deep to be written as JSON again. */
const isShallow = (value: unknown, deepest = DEEPEST): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (deepest > 0 && Object.values(value).every((member) => isShallow(member, deepest - 1)));

/**
 * Returns the given id, or nine letters and digits if it cannot be used: the form of an id that
 * even Mistral accepts.
 */
const unusedId = (given: string, used: Set<string>, now: number): string => {
  const isGood = /^[\w-]{1,64}$/.test(given) && !used.has(given);
  const id = isGood ? given : mint('call', now).slice(-9);
  used.add(id);
  return id;
};
