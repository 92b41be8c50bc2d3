import { isRecord } from '../../kernel/jsonvalue.js';
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

/** One reply as the adapters return it. */
export interface SdkReply {
  text: string;
  toolCalls: { toolCallId: string; toolName: string; input: unknown }[];
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined };
  finishReason: string;
  /** True if the rest of the reply was not read, because it was longer than asked for. */
  isCutOff?: boolean;
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
  sdkReply: SdkReply;
  price?: Price;
}

/** Converts a reply to a StepReply. Throws ModelFailure if it is not usable. */
export const replyOf = ({ name, asked, sdkReply, price }: ReplyInput): StepReply => {
  if (sdkReply.finishReason === 'content-filter')
    throw new ModelFailure('bad_request', `${name} withheld its reply (content filter)`);
  if (sdkReply.finishReason === 'error' || isUnended(sdkReply))
    throw new ModelFailure('invalid_reply', `${name} ended its reply without a finish`);
  const isCut = sdkReply.finishReason === 'length';
  const calls = sdkReply.toolCalls.map(callOf);
  const toolCalls = calls.filter((call) => call !== null);
  // A reply that was cut may end in half a call, which is left out; in a complete reply that is a
  // failure.
  if (!isCut && toolCalls.length < calls.length)
    throw new ModelFailure('invalid_reply', `${name} asked for a tool with broken arguments`);
  return {
    text: sdkReply.text,
    toolCalls,
    usage: usageOf(sdkReply, asked, price),
    finish: isCut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
  };
};

/** True if the reply has no end: some adapters take the end of the connection for it. */
const isUnended = ({ finishReason, rawFinishReason }: SdkReply): boolean =>
  finishReason === 'other' && rawFinishReason === undefined;

const callOf = (call: SdkReply['toolCalls'][number]): ToolCall | null => {
  const { toolCallId: id, toolName: name, input } = call;
  if (input === '') return { id, name, arguments: {} };
  return isRecord(input) ? { id, name, arguments: input } : null;
};

/**
 * Returns the usage. If the endpoint reports none (or zero), it is estimated, so that budgets still
 * count.
 */
const usageOf = ({ usage, seen }: SdkReply, asked: ModelRequest, price?: Price): ModelUsage =>
  usageWith(
    price,
    reported(usage.inputTokens) ?? estimateTokens(asked.turns, asked.tools),
    reported(usage.outputTokens) ?? seen,
  );

const reported = (tokens: number | undefined): number | null =>
  tokens !== undefined && tokens > 0 ? Math.ceil(tokens) : null;
