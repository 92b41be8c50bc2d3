import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolCall,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import Bourne from '@hapi/bourne';
import { adapters, leadingSystem, type ModelEndpoint, type Provider } from './adapters.js';
import { createOwnErrors, endedBy, modelFailure, refuseUnsendable } from './failure.js';
import { withoutApiKey, withoutKey } from './hidekey.js';
import {
  type Model,
  ModelFailure,
  type ModelRequest,
  type Price,
  type StepReply,
} from './model.js';
import { type ObservedEndpoint, type OpenedModel, openOnce } from './open.js';
import { replyOf, type SdkReply } from './reply.js';
import { createTally, type ReplyTally, withUsage } from './tally.js';
import { type ModelTimeouts, type TimeoutWatch, watchTimeouts } from './timeouts.js';
import { functionTools, promptOf } from './turns.js';
import { usageIn } from './usage.js';
import { framedFailure } from './wire.js';

/**
 * The options of a model. `fetch` is the guarded client's `fetchFor`, which checks addresses and
 * limits the connection. The base URL ends before `/chat/completions`, `/messages` or `/models`;
 * Ollama's is its root.
 */
export interface ModelOptions extends ModelEndpoint {
  provider: Provider;
  apiKey?: string;
  /**
   * Returns the key, in place of `apiKey`. It is called at each step, so that no key stays in
   * memory.
   */
  keyOf?(): Promise<string | null>;
  /** The context window in tokens. */
  contextWindow: number;
  /** The most tokens of one reply if the step sets no limit; by default the provider's own. */
  maxOutputTokens?: number;
  /** False if the endpoint cannot stream: the text then comes in one piece. */
  streaming?: boolean;
  /** False if the model cannot use tools. */
  takesTools?: boolean;
  price?: Price;
  timeouts?: ModelTimeouts;
}

/** The default time limits. Ours: half an hour for a whole reply. */
const TIMEOUTS: ModelTimeouts = { firstTokenMs: 120_000, silenceMs: 60_000, totalMs: 1_800_000 };
/** The most bytes of a reply: text, reasoning and arguments together. */
const LONGEST_REPLY = 4 * 1024 * 1024;

/** Creates a model that calls the endpoint of a provider. */
export const openAiSdkModel = (options: ModelOptions): Model => {
  const learned: ObservedEndpoint = { wantsCompletionTokens: false, hidesReasoning: false };
  const open = openOnce(options, learned);
  return {
    name: options.name,
    provider: options.provider,
    contextWindow: options.contextWindow,
    takesTools: options.takesTools !== false,
    ...(options.price && { price: options.price }),
    step: (asked) => take({ ...options, open }, learned, asked),
  };
};

type OpenableModel = ModelOptions & { open(): Promise<OpenedModel> };

const take = async (
  options: OpenableModel,
  learned: ObservedEndpoint,
  given: ModelRequest,
): Promise<StepReply> => {
  const { name, price, streaming = true, timeouts = TIMEOUTS } = options;
  const apiKey = await sendableKey(options);
  const ownErrors = createOwnErrors();
  const whole = new AbortController();
  const watch = watchTimeouts(name, timeouts);
  const asked = { ...given, maxOutputTokens: given.maxOutputTokens ?? options.maxOutputTokens };
  const isStreamed = asked.onText !== undefined && streaming;
  const tally = createTally();
  let isRead = false;
  try {
    const signal = AbortSignal.any([asked.signal, watch.signal, whole.signal]);
    const { model, watch: watchBegin } = await options.open();
    watchBegin(signal, tally.begin);
    const call = callOf({ ...options, apiKey }, { ...asked, signal });
    const { take: onText, end } = withoutApiKey(apiKey, (text) =>
      ownErrors.from(() => asked.onText?.(text)),
    );
    const asking = { name, model, call, asked: { ...asked, onText }, watch, tally };
    const sdkReply = await (isStreamed ? stream : ask)(asking);
    isRead = !sdkReply.isCutOff;
    end();
    const reply = replyOf({ name, price, asked, sdkReply });
    return await withoutKey(reply, apiKey);
  } catch (error) {
    const failed = { tally, asked, price, isStreamed, ...learned };
    if (asked.signal.aborted) throw withUsage(endedBy(name, asked.signal), failed);
    if (ownErrors.includes(error)) throw error;
    const { aborted, reason } = watch.signal;
    throw withUsage(aborted ? reason : modelFailure(name, error), failed);
  } finally {
    if (tally.hidesReasoning) learned.hidesReasoning = true;
    watch.stop();
    // Otherwise an abandoned reply would keep its connection open.
    if (!isRead) whole.abort();
  }
};

const sendableKey = async ({ name, keyOf, apiKey }: ModelOptions): Promise<string | undefined> => {
  const key = (await keyOf?.()) ?? apiKey;
  refuseUnsendable(name, key);
  return key;
};

/**
 * Returns one call: one step, no retries. Loops, fallbacks and cool-downs belong to the runtime. The
 * adapters are called by their own interface: the functions for applications that the AI SDK puts
 * over it check every message and pass every token through a chain of streams, which took two
 * thirds of the processor time of a step.
 */
const callOf = (
  { name, provider, apiKey, contextWindow }: ModelOptions,
  asked: ModelRequest & { signal: AbortSignal },
): LanguageModelV3CallOptions => {
  const adapter = adapters[provider];
  const prompt = promptOf(name, asked.turns);
  const { maxOutputTokens } = asked;
  return {
    prompt: adapter.isSystemFirst ? leadingSystem(prompt) : prompt,
    ...(asked.tools.length > 0 && {
      tools: functionTools(asked.tools),
      toolChoice: { type: 'auto' },
    }),
    maxOutputTokens,
    ...(adapter.options && {
      providerOptions: adapter.options({ contextWindow, maxOutputTokens }),
    }),
    ...(apiKey && { headers: adapter.keyHeader(apiKey) }),
    abortSignal: asked.signal,
  };
};

interface StreamInput {
  name: string;
  model: LanguageModelV3;
  call: LanguageModelV3CallOptions;
  asked: ModelRequest;
  watch: TimeoutWatch;
  tally: ReplyTally;
}

/** Requests one JSON reply. */
const ask = async ({ name, model, call, asked, tally }: StreamInput): Promise<SdkReply> => {
  const sdkReply = await Promise.resolve(model.doGenerate(call)).catch((error: unknown) => {
    throw readable(name, error);
  });
  const { content, finishReason, usage } = sdkReply;
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (text !== '') asked.onText?.(text);
  const toolCalls: SdkReply['toolCalls'] = [];
  for (const part of content) {
    if (part.type === 'text' || part.type === 'reasoning') tally.add(part.text);
    if (part.type !== 'tool-call') continue;
    tally.add(part.input);
    toolCalls.push(readCall(part));
  }
  tally.tell(usageIn({ usage: usage.raw }));
  tally.tell(usageIn({ usageMetadata: usage.raw }));
  return { text, toolCalls, ...reasonOf(finishReason), ...countOf(tally, totalOf(usage)) };
};

/** Requests a streamed reply, and passes each piece of text on as it comes. */
const stream = async (asking: StreamInput): Promise<SdkReply> => {
  const { name, model, call, asked, watch, tally } = asking;
  const sdkReply: SdkReply = { text: '', toolCalls: [], usage: {}, finishReason: 'error', seen: 0 };
  const most = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const inPieces = new Set<string>();
  for await (const part of partsOf(name, model, call)) {
    if (part.type === 'error') throw errorOf(name, part.error);
    if (!SIGNS.has(part.type)) watch.active();
    count(tally, inPieces, part);
    if (tally.bytes() > LONGEST_REPLY) throw new ModelFailure('invalid_reply', tooLong(name));
    if (part.type === 'tool-call') sdkReply.toolCalls.push(readCall(part));
    if (part.type === 'finish') {
      Object.assign(sdkReply, { usage: totalOf(part.usage), ...reasonOf(part.finishReason) });
    }
    if (part.type === 'text-delta') {
      sdkReply.text += part.delta;
      asked.onText?.(part.delta);
    }
    if (part.type !== 'finish' && tally.tokens() > most) {
      Object.assign(sdkReply, { usage: {}, finishReason: 'length', isCutOff: true });
      break;
    }
  }
  return { ...sdkReply, ...countOf(tally, sdkReply.usage) };
};

/** Yields the parts of a streamed reply as the adapter reads them. */
async function* partsOf(
  name: string,
  model: LanguageModelV3,
  call: LanguageModelV3CallOptions,
): AsyncGenerator<StreamPart> {
  try {
    const { stream } = await model.doStream({ ...call, includeRawChunks: true });
    yield* stream;
  } catch (error) {
    throw readable(name, error);
  }
}

/** Reads a call, whose arguments come as JSON. Broken arguments stay the text that they are. */
const readCall = ({ toolCallId, toolName, input }: LanguageModelV3ToolCall) => ({
  toolCallId,
  toolName,
  input: argumentsIn(input),
});

/** Parses the arguments; those with a `__proto__` key are as broken as those that are no JSON. */
const argumentsIn = (input: string): unknown => {
  if (input.trim() === '') return '';
  try {
    return Bourne.parse(input);
  } catch {
    return input;
  }
};

const reasonOf = ({ unified, raw }: LanguageModelV3FinishReason) => ({
  finishReason: unified,
  rawFinishReason: raw,
});

const totalOf = ({ inputTokens, outputTokens }: LanguageModelV3Usage): SdkReply['usage'] => ({
  inputTokens: inputTokens.total,
  outputTokens: outputTokens.total,
});

/** Returns the usage that the provider reported; an adapter may miss reasoning tokens in it. */
const countOf = (tally: ReplyTally, read: SdkReply['usage']): Pick<SdkReply, 'usage' | 'seen'> => {
  const { inputTokens = 0, outputTokens = 0 } = tally.reported;
  const seen = tally.tokens();
  const output = Math.max(outputTokens, read.outputTokens || seen);
  const input = Math.max(inputTokens, read.inputTokens ?? 0);
  return { usage: { inputTokens: input, outputTokens: output }, seen };
};

type StreamPart = LanguageModelV3StreamPart;

/** Counts a part. Some adapters pass a tool's arguments in pieces, others with the call. */
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

/** The parts that come before the first token, or that stand for no token. */
const SIGNS = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'text-start',
  'reasoning-start',
]);

const tooLong = (name: string): string => `${name} sent an answer that does not end`;

/** Converts an error of the stream. One that the endpoint put into its stream is plain JSON. */
const errorOf = (name: string, error: unknown): unknown =>
  error instanceof Error ? readable(name, error) : framedFailure(name, error);

/** Converts a RangeError, the result of a reply that is nested too deep for the SDK's recursion. */
const readable = (name: string, error: unknown): unknown =>
  error instanceof RangeError
    ? new ModelFailure('invalid_reply', `${name} sent a reply that is nested too deep`)
    : error;
