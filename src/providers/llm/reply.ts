import type { ReadArguments } from './arguments.js';
import {
  ModelFailure,
  type ModelRequest,
  type ModelUsage,
  type Price,
  type ReplyReasoning,
  type StepReply,
  type ToolCall,
} from './model.js';
import { usageWith } from './tally.js';
import { estimateTokens } from './tokens.js';

/** One reply as the adapters return it. */
export interface SdkReply {
  text: string;
  toolCalls: ({ toolCallId: string; toolName: string; signature?: string } & ReadArguments)[];
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
  reasoning?: ReplyReasoning | undefined;
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
  if (sdkReply.finishReason === 'error' || isUnended(sdkReply)) throw unended(name);
  const isCut = sdkReply.finishReason === 'length';
  const toolCalls = sdkReply.toolCalls.map((call) => callOf(call, isCut));
  return {
    text: sdkReply.text,
    toolCalls,
    usage: usageOf(sdkReply, asked, price),
    finish: isCut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
    ...(sdkReply.reasoning && { reasoning: sdkReply.reasoning }),
  };
};

export const unended = (name: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} ended its reply without finish_reason`);

/** Whether the connection ended before the reply did. Some adapters report that as `other`. */
const isUnended = ({ finishReason, rawFinishReason }: SdkReply): boolean =>
  finishReason === 'interrupted' || (finishReason === 'other' && rawFinishReason === undefined);

const CUT = 'your reply was cut off at its output limit before they were complete';

/**
 * Converts a call. One with broken arguments is told to the model as the result of the call, so it
 * is no failure of the model. A reply that was cut may end in half a call.
 */
const callOf = (call: SdkReply['toolCalls'][number], isCut: boolean): ToolCall => {
  const { toolCallId: id, toolName: name, input, fault, signature } = call;
  if (fault === undefined) {
    return { id, name, arguments: input, ...(signature !== undefined && { signature }) };
  }
  return { id, name, arguments: {}, fault: isCut ? CUT : fault };
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
