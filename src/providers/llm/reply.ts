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
  const finish = unifyFinish(sdkReply);
  if (finish === 'content-filter')
    throw new ModelFailure(
      'bad_request',
      `${name} withheld its reply (content filter). Change the request or use another model`,
    );
  if (finish === 'aborted')
    throw new ModelFailure(
      'invalid_reply',
      `${name} aborted its reply (finish_reason ${sdkReply.rawFinishReason?.slice(0, 40)})`,
    );
  if (finish === 'error' || isUnended(sdkReply)) throw unfinishedReply(name);
  const isCut = finish === 'length';
  const toolCalls = sdkReply.toolCalls.map((call) => toToolCall(call, isCut));
  const isEmpty = toolCalls.length === 0 && sdkReply.text.trim() === '';
  // After the results of calls, a model may have nothing to add.
  if (isEmpty && isCut) throw noTextBeforeLimit(name);
  if (isEmpty && request.turns.at(-1)?.role !== 'tool') throw emptyReply(name);
  return {
    text: sdkReply.text,
    toolCalls,
    usage: computeModelUsage(sdkReply, request, price),
    finish: isCut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
    ...(sdkReply.reasoning && { reasoning: sdkReply.reasoning }),
  };
};

/** Values that adapters report as `other`: those of vLLM, SGLang, DeepSeek, OpenRouter, Mistral. */
const FINISHES: [RegExp, 'aborted' | 'length' | 'content-filter'][] = [
  [/^(error|abort(ed)?|cancell?ed|network_error|insufficient_system_resource)$/, 'aborted'],
  [/^(max_tokens|model_length|max_output_tokens)$/, 'length'],
  [/^(sensitive|safety)$/, 'content-filter'],
];

const unifyFinish = ({ finishReason, rawFinishReason = '' }: SdkReply): string => {
  if (finishReason !== 'other' && finishReason !== 'error') return finishReason;
  const raw = rawFinishReason.toLowerCase();
  return FINISHES.find(([pattern]) => pattern.test(raw))?.[1] ?? finishReason;
};

/** Such as a model that reasons for longer than its limit allows. */
const noTextBeforeLimit = (name: string): ModelFailure =>
  new ModelFailure(
    'invalid_reply',
    `${name} sent no text before its output limit. Set a higher maxOutputTokens or use another model`,
  );

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
