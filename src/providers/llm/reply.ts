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

/** A reply as the adapters return it. */
export interface SdkReply {
  text: string;
  toolCalls: ({ toolCallId: string; toolName: string; signature?: string } & ReadArguments)[];
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined };
  finishReason: string;
  /** Whether the rest was not read, because the reply was too long. */
  isCutOff?: boolean;
  /** Missing if the provider gave none. */
  rawFinishReason?: string | undefined;
  /** Output tokens seen, including reasoning and arguments. Used if none are reported. */
  seen: number;
  reasoning?: ReplyReasoning | undefined;
}

interface ReplyInput {
  name: string;
  request: ModelRequest;
  sdkReply: SdkReply;
  price?: Price;
}

export const toStepReply = ({ name, request, sdkReply, price }: ReplyInput): StepReply => {
  if (sdkReply.finishReason === 'content-filter')
    throw new ModelFailure(
      'bad_request',
      `${name} withheld its reply (content filter). Change the request or use another model`,
    );
  if (sdkReply.finishReason === 'error' || isUnended(sdkReply)) throw unfinishedReply(name);
  const isCut = sdkReply.finishReason === 'length';
  const toolCalls = sdkReply.toolCalls.map((call) => toToolCall(call, isCut));
  const isEmpty = toolCalls.length === 0 && sdkReply.text.trim() === '';
  // After the results of calls, a model may have nothing to add.
  if (isEmpty && !isCut && request.turns.at(-1)?.role !== 'tool') throw emptyReply(name);
  return {
    text: sdkReply.text,
    toolCalls,
    usage: computeModelUsage(sdkReply, request, price),
    finish: isCut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
    ...(sdkReply.reasoning && { reasoning: sdkReply.reasoning }),
  };
};

export const emptyReply = (name: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} sent an empty reply`);

export const unfinishedReply = (name: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} ended its reply without finish_reason`);

/** Whether the connection ended before the reply did. Some adapters report that as `other`. */
const isUnended = ({ finishReason, rawFinishReason }: SdkReply): boolean =>
  finishReason === 'interrupted' || (finishReason === 'other' && rawFinishReason === undefined);

const CUT = 'your reply was cut off at the output limit before the arguments were complete';

/**
 * Invalid arguments are reported to the model as the result of the call. A cut reply may end in
 * half a call.
 */
const toToolCall = (call: SdkReply['toolCalls'][number], isCut: boolean): ToolCall => {
  const { toolCallId: id, toolName: name, input, fault, signature } = call;
  if (fault === undefined) {
    return { id, name, arguments: input, ...(signature !== undefined && { signature }) };
  }
  return { id, name, arguments: {}, fault: isCut ? CUT : fault };
};

/** Estimated if the endpoint reports none or zero, so that budgets still count. */
const computeModelUsage = (
  { usage, seen }: SdkReply,
  request: ModelRequest,
  price?: Price,
): ModelUsage =>
  usageWith(
    price,
    reported(usage.inputTokens) ?? estimateTokens(request.turns, request.tools),
    reported(usage.outputTokens) ?? seen,
  );

const reported = (tokens: number | undefined): number | null =>
  tokens !== undefined && tokens > 0 ? Math.ceil(tokens) : null;
