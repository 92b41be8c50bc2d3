import {
  ModelFailure,
  type ModelRequest,
  type ModelUsage,
  type Price,
  type StepReply,
  type ToolCall,
} from './model.js';
import { usageWith } from './tally.js';
import { estimateTokens } from './tokens.js';

/** One answer as the AI SDK returns it. */
export interface Came {
  text: string;
  toolCalls: { toolCallId: string; toolName: string; input: unknown }[];
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined };
  finishReason: string;
  /** The provider's own reason; missing if it gave none. */
  rawFinishReason?: string | undefined;
  /**
   * The tokens of output that were seen, including reasoning and arguments; used if none are
   * reported.
   */
  seen: number;
}

interface ReplyInput {
  /** The model's name. */
  name: string;
  asked: ModelRequest;
  came: Came;
  price?: Price;
}

/** Converts an answer to a StepReply. Throws ModelFailure if it is not usable. */
export const replyOf = ({ name, asked, came, price }: ReplyInput): StepReply => {
  if (came.finishReason === 'content-filter')
    throw new ModelFailure('bad_request', `${name} withheld its reply (content filter)`);
  if (came.finishReason === 'error' || isUnended(came))
    throw new ModelFailure('invalid_reply', `${name} ended its reply without a finish`);
  const isCut = came.finishReason === 'length';
  const calls = came.toolCalls.map(callOf);
  const toolCalls = calls.filter((call) => call !== null);
  // A reply that was cut may end in half a call, which is left out; in a complete reply that is a
  // failure.
  if (!isCut && toolCalls.length < calls.length)
    throw new ModelFailure('invalid_reply', `${name} asked for a tool with broken arguments`);
  return {
    text: came.text,
    toolCalls,
    usage: usageOf(came, asked, price),
    finish: isCut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
  };
};

/** True if the reply has no end: some adapters take the end of the connection for it. */
const isUnended = ({ finishReason, rawFinishReason }: Came): boolean =>
  finishReason === 'other' && rawFinishReason === undefined;

const callOf = ({ toolCallId, toolName, input }: Came['toolCalls'][number]): ToolCall | null => {
  if (input === '') return { id: toolCallId, name: toolName, arguments: {} };
  return isRecord(input) ? { id: toolCallId, name: toolName, arguments: input } : null;
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the usage. If the endpoint reports none (or zero), it is estimated, so that budgets still
 * count.
 */
const usageOf = ({ usage, seen }: Came, asked: ModelRequest, price?: Price): ModelUsage =>
  usageWith(
    price,
    reported(usage.inputTokens) ?? estimateTokens(asked.turns, asked.tools),
    reported(usage.outputTokens) ?? seen,
  );

const reported = (tokens: number | undefined): number | null =>
  tokens !== undefined && tokens > 0 ? Math.ceil(tokens) : null;
