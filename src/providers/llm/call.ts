import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type LanguageModelV4ToolCall,
  type LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { readArguments } from './arguments.js';
import { ModelFailure } from './model.js';
import { type SdkReply, unfinishedReply } from './reply.js';
import type { ReplyReader } from './replytext.js';
import type { ReplyTally } from './tally.js';
import type { TimeoutWatch } from './timeouts.js';
import { usageIn } from './usage.js';
import { streamErrorFailure } from './wire.js';

/** Maximum bytes of a reply, including reasoning and arguments. */
const MAX_REPLY_LENGTH = 4 * 1024 * 1024;

export interface ModelCall {
  name: string;
  model: LanguageModelV4;
  call: LanguageModelV4CallOptions;
  reader: ReplyReader;
  watch: TimeoutWatch;
  tally: ReplyTally;
}

export const askWhole = async ({
  name,
  model,
  call,
  reader,
  tally,
}: ModelCall): Promise<SdkReply> => {
  const reply = await Promise.resolve(model.doGenerate(call)).catch((error: unknown) => {
    throw readable(name, error);
  });
  const { content, finishReason, usage, response } = reply;
  reader.raw(response?.body);
  const toolCalls: SdkReply['toolCalls'] = [];
  for (const part of content) {
    if (part.type === 'text' || part.type === 'reasoning') tally.add(part.text);
    if (part.type === 'reasoning') reader.reasoning(part.text);
    if (part.type === 'text') reader.take(part.text);
    if (part.type !== 'tool-call') continue;
    tally.add(part.input);
    toolCalls.push(readCall(part));
  }
  tally.tell(usageIn({ usage: usage.raw }));
  tally.tell(usageIn({ usageMetadata: usage.raw }));
  const counted = computeUsage(tally, toTotalUsage(usage));
  return reader.end({ text: '', toolCalls, ...toFinishReason(finishReason), ...counted });
};

export const askStreamed = async (asking: ModelCall): Promise<SdkReply> => {
  const { name, model, call, reader, watch, tally } = asking;
  const reply: SdkReply = { text: '', toolCalls: [], usage: {}, finishReason: 'error', seen: 0 };
  const most = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const inPieces = new Set<string>();
  for await (const part of partsOf(name, model, call)) {
    if (part.type === 'error') throw toReplyError(asking, part.error);
    if (!SIGNS.has(part.type)) watch.active();
    count(tally, inPieces, part);
    if (tally.bytes() > MAX_REPLY_LENGTH) throw new ModelFailure('invalid_reply', tooLong(name));
    if (part.type === 'tool-call') reply.toolCalls.push(readCall(part));
    if (Math.max(inPieces.size, reply.toolCalls.length) > MAX_CALLS) throw tooManyCalls(name);
    if (part.type === 'finish') {
      Object.assign(reply, {
        usage: toTotalUsage(part.usage),
        ...toFinishReason(part.finishReason),
      });
    }
    if (part.type === 'raw') reader.raw(part.rawValue);
    if (part.type === 'reasoning-delta') reader.reasoning(part.delta);
    if (part.type === 'text-delta') reader.take(part.delta);
    if (part.type !== 'finish' && tally.tokens() > most) {
      Object.assign(reply, { usage: {}, finishReason: 'length', isCutOff: true });
      break;
    }
  }
  return reader.end({ ...reply, ...computeUsage(tally, reply.usage) });
};

/** More than any model calls at once; each takes several milliseconds to read. */
const MAX_CALLS = 128;

const tooManyCalls = (name: string): ModelFailure =>
  new ModelFailure('invalid_reply', `${name} sent more than ${MAX_CALLS} tool calls in one reply`);

async function* partsOf(
  name: string,
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
): AsyncGenerator<StreamPart> {
  try {
    const { stream } = await model.doStream({ ...call, includeRawChunks: true });
    yield* stream;
  } catch (error) {
    throw readable(name, error);
  }
}

const readCall = ({
  toolCallId,
  toolName,
  input,
  providerMetadata = {},
}: LanguageModelV4ToolCall): SdkReply['toolCalls'][number] => {
  const signatures = Object.values(providerMetadata).map((of) => of.thoughtSignature);
  const signature = signatures.find((each) => typeof each === 'string');
  const call = { toolCallId, toolName, ...readArguments(input) };
  return typeof signature === 'string' ? { ...call, signature } : call;
};

const toFinishReason = ({ unified, raw }: LanguageModelV4FinishReason) => ({
  finishReason: unified,
  rawFinishReason: raw,
});

const toTotalUsage = ({ inputTokens, outputTokens }: LanguageModelV4Usage): SdkReply['usage'] => ({
  inputTokens: inputTokens.total,
  outputTokens: outputTokens.total,
});

/** An adapter may miss reasoning tokens. */
const computeUsage = (
  tally: ReplyTally,
  read: SdkReply['usage'],
): Pick<SdkReply, 'usage' | 'seen'> => {
  const { inputTokens = 0, outputTokens = 0 } = tally.reported;
  const seen = tally.tokens();
  const output = Math.max(outputTokens, read.outputTokens || seen);
  const input = Math.max(inputTokens, read.inputTokens ?? 0);
  return { usage: { inputTokens: input, outputTokens: output }, seen };
};

type StreamPart = LanguageModelV4StreamPart;

/** Some adapters pass arguments in pieces, others with the call. */
const count = (tally: ReplyTally, inPieces: Set<string>, part: StreamPart): void => {
  if (part.type === 'text-delta') tally.add(part.delta);
  if (part.type === 'reasoning-delta') tally.add(part.delta, 'reasoning');
  if (part.type === 'raw') tally.tell(usageIn(part.rawValue));
  if (part.type === 'tool-input-delta') {
    inPieces.add(part.id);
    tally.add(part.delta);
  }
  if (part.type !== 'tool-call' || inPieces.has(part.toolCallId)) return;
  tally.add(part.input);
};

/** Parts that are not tokens. */
const SIGNS = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'text-start',
  'reasoning-start',
]);

const tooLong = (name: string): string => `${name} exceeded the maximum length of a reply`;

/** An error that the endpoint put into its stream is plain JSON. */
const toReplyError = ({ name, model, tally }: ModelCall, error: unknown): unknown => {
  // The adapters report a missing finish reason without data.
  const isUnended = InvalidResponseDataError.isInstance(error) && error.data === undefined;
  if (isUnended && tally.bytes() > 0) return unfinishedReply(name);
  return error instanceof Error
    ? readable(name, error)
    : streamErrorFailure({ name, modelId: model.modelId }, error);
};

/** A RangeError means that the reply exceeds the recursion of the SDK. */
const readable = (name: string, error: unknown): unknown =>
  error instanceof RangeError
    ? new ModelFailure('invalid_reply', `${name} sent a reply that is nested too deeply`)
    : error;
