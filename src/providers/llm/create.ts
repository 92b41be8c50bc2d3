import type { TextStreamPart, ToolSet } from 'ai';
import { adapters, leadingSystem, type ModelEndpoint, type Provider } from './adapters.js';
import { createOwnErrors, endedBy, modelFailure, refuseUnsendable } from './failure.js';
import { withoutApiKey, withoutKey } from './hidekey.js';
import { boundedLines } from './lines.js';
import {
  type Model,
  ModelFailure,
  type ModelRequest,
  type Price,
  type StepReply,
} from './model.js';
import { replyOf, type SdkReply } from './reply.js';
import { createTally, type ReplyTally, withUsage } from './tally.js';
import { type ModelTimeouts, type TimeoutWatch, watchTimeouts } from './timeouts.js';
import { sdkMessages, sdkTools } from './turns.js';
import { usageIn } from './usage.js';
import { type EndpointTraits, framedFailure, type WireOptions, wireOf } from './wire.js';

/**
 * The options of a model. `fetch` is the guarded client's `fetchFor`, which checks addresses and
 * limits the connection. The base URL ends before `/chat/completions`, `/messages` or `/models`;
 * Ollama's is its root.
 */
export interface ModelOptions extends ModelEndpoint {
  provider: Provider;
  /**
   * Returns the key, in place of `apiKey`. It is called at each step, so that no key stays in
   * memory.
   */
  keyOf?(): Promise<string | null>;
  /** The context window in tokens. */
  contextWindow: number;
  /** The most tokens of one answer if the step sets no limit; by default the provider's own. */
  maxOutputTokens?: number;
  /** False if the endpoint cannot stream: the text then comes in one piece. */
  streaming?: boolean;
  /** False if the model cannot use tools. */
  takesTools?: boolean;
  price?: Price;
  timeouts?: ModelTimeouts;
}

/** The default time limits. Ours: half an hour for a whole answer. */
const TIMEOUTS: ModelTimeouts = { firstTokenMs: 120_000, silenceMs: 60_000, totalMs: 1_800_000 };
/** The most bytes of an answer: text, reasoning and arguments together. */
const LONGEST_ANSWER = 4 * 1024 * 1024;

/** Creates a model that calls the endpoint of a provider. */
export const openAiSdkModel = (options: ModelOptions): Model => {
  const learned: ObservedEndpoint = { wantsCompletionTokens: false, hidesReasoning: false };
  return {
    name: options.name,
    provider: options.provider,
    contextWindow: options.contextWindow,
    takesTools: options.takesTools !== false,
    ...(options.price && { price: options.price }),
    step: (asked) => take(options, learned, asked),
  };
};

/** The model's properties, as far as its replies have shown them. */
interface ObservedEndpoint extends EndpointTraits {
  /** True if it reasons without showing that, so that it may have generated more than was seen. */
  hidesReasoning: boolean;
}

const take = async (
  options: ModelOptions,
  learned: ObservedEndpoint,
  given: ModelRequest,
): Promise<StepReply> => {
  const { name, price, streaming = true, timeouts = TIMEOUTS } = options;
  const sdk = await load();
  const apiKey = (await options.keyOf?.()) ?? options.apiKey;
  refuseUnsendable(name, apiKey);
  const ownErrors = createOwnErrors();
  const whole = new AbortController();
  const watch = watchTimeouts(name, timeouts);
  const asked = { ...given, maxOutputTokens: given.maxOutputTokens ?? options.maxOutputTokens };
  const isStreamed = asked.onText !== undefined && streaming;
  const tally = createTally();
  try {
    const signal = AbortSignal.any([asked.signal, watch.signal, whole.signal]);
    const opened = { ...options, ...(apiKey && { apiKey }), traits: learned, begun: tally.begin };
    const call = await callOf(sdk, opened, { ...asked, signal });
    const { take: onText, end } = withoutApiKey(apiKey, (text) =>
      ownErrors.from(() => asked.onText?.(text)),
    );
    const asking = { sdk, name, call, asked: { ...asked, onText }, watch, tally };
    const answer = await (isStreamed ? stream : ask)(asking);
    end();
    const reply = replyOf({ name, price, asked, answer });
    return await withoutKey(reply, apiKey);
  } catch (error) {
    const failed = { tally, asked, price, isStreamed, ...learned };
    if (asked.signal.aborted) throw withUsage(endedBy(name, asked.signal), failed);
    if (ownErrors.includes(error)) throw error;
    const { aborted, reason } = watch.signal;
    throw withUsage(aborted ? reason : modelFailure(name, error, sdk), failed);
  } finally {
    if (tally.hidesReasoning) learned.hidesReasoning = true;
    watch.stop();
    // Otherwise an abandoned reply would keep its connection open.
    whole.abort();
  }
};

/** Loads the AI SDK. That takes some 80 ms and 23 MB, so it happens at the first call. */
const load = async () => {
  const sdk = await import('ai');
  // The SDK's only switch for its warnings, which it prints to the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return sdk;
};

type LoadedSdk = Awaited<ReturnType<typeof load>>;

type OpenModelOptions = ModelOptions & Pick<WireOptions, 'traits' | 'begun'>;

/**
 * Returns one call: one step, no retries. Loops, fallbacks and cool-downs belong to the runtime.
 */
const callOf = async (sdk: LoadedSdk, options: OpenModelOptions, asked: ModelRequest) => {
  const { name, provider, contextWindow } = options;
  const adapter = adapters[provider];
  const messages = sdkMessages(asked.turns);
  const { maxOutputTokens } = asked;
  return {
    model: await adapter.open({ ...options, fetch: boundedLines(name, wireOf(options)) }),
    messages: adapter.isSystemFirst ? leadingSystem(messages) : messages,
    allowSystemInMessages: true,
    tools: sdkTools(sdk, asked.tools),
    maxOutputTokens,
    ...(adapter.options && {
      providerOptions: adapter.options({ contextWindow, maxOutputTokens }),
    }),
    stopWhen: sdk.stepCountIs(1),
    maxRetries: 0,
    abortSignal: asked.signal,
  };
};

interface StreamInput {
  sdk: LoadedSdk;
  name: string;
  call: Awaited<ReturnType<typeof callOf>>;
  asked: ModelRequest;
  watch: TimeoutWatch;
  tally: ReplyTally;
}

/** Requests one JSON reply. */
const ask = async ({ sdk, name, call, asked, tally }: StreamInput): Promise<SdkReply> => {
  const answer = await sdk.generateText(call).catch((error: unknown) => {
    throw readable(name, error);
  });
  if (answer.text !== '') asked.onText?.(answer.text);
  for (const text of [answer.text, answer.reasoningText ?? '']) tally.add(text);
  for (const { input } of answer.toolCalls) tally.add(JSON.stringify(input) ?? '');
  tally.tell(usageIn({ usage: answer.usage.raw }));
  tally.tell(usageIn({ usageMetadata: answer.usage.raw }));
  const { text, toolCalls, finishReason, rawFinishReason } = answer;
  return { text, toolCalls, finishReason, rawFinishReason, ...countOf(tally, answer.usage) };
};

/** Requests a streamed reply, and passes each piece of text on as it comes. */
const stream = async (asking: StreamInput): Promise<SdkReply> => {
  const { sdk, name, call, asked, watch, tally } = asking;
  // Errors come as parts of the stream; without this handler the SDK prints them, too.
  const result = sdk.streamText({ ...call, includeRawChunks: true, onError: () => {} });
  const answer: SdkReply = { text: '', toolCalls: [], usage: {}, finishReason: 'error', seen: 0 };
  const most = call.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const inPieces = new Set<string>();
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw errorOf(name, part.error);
    if (part.type === 'abort') throw call.abortSignal.reason;
    if (!SIGNS.has(part.type)) watch.active();
    count(tally, inPieces, part);
    if (tally.bytes() > LONGEST_ANSWER) throw new ModelFailure('invalid_reply', tooLong(name));
    if (part.type === 'tool-call') answer.toolCalls.push(part);
    if (part.type === 'finish') {
      answer.usage = part.totalUsage;
      answer.finishReason = part.finishReason;
      answer.rawFinishReason = part.rawFinishReason;
    }
    if (part.type === 'text-delta') {
      answer.text += part.text;
      asked.onText?.(part.text);
    }
    if (part.type !== 'finish' && tally.tokens() > most) {
      Object.assign(answer, { usage: {}, finishReason: 'length' });
      break;
    }
  }
  return { ...answer, ...countOf(tally, answer.usage) };
};

/** Returns the usage that the provider reported; an adapter may miss reasoning tokens in it. */
const countOf = (tally: ReplyTally, read: SdkReply['usage']): Pick<SdkReply, 'usage' | 'seen'> => {
  const { inputTokens = 0, outputTokens = 0 } = tally.reported;
  const seen = tally.tokens();
  const output = Math.max(outputTokens, read.outputTokens || seen);
  const input = Math.max(inputTokens, read.inputTokens ?? 0);
  return { usage: { inputTokens: input, outputTokens: output }, seen };
};

type StreamPart = TextStreamPart<ToolSet>;

/** Counts a part. Some adapters pass a tool's arguments in pieces, others with the call. */
const count = (tally: ReplyTally, inPieces: Set<string>, part: StreamPart): void => {
  if (part.type === 'text-delta') tally.add(part.text);
  if (part.type === 'reasoning-delta') tally.add(part.text, 'reasoning');
  if (part.type === 'raw') tally.tell(usageIn(part.rawValue));
  if (part.type === 'tool-input-delta') {
    inPieces.add(part.id);
    tally.add(part.delta);
  }
  if (part.type !== 'tool-call' || inPieces.has(part.toolCallId)) return;
  tally.add(JSON.stringify(part.input) ?? '');
};

/** The parts that the SDK creates, or that come before the first token. */
const SIGNS = new Set(['start', 'start-step', 'raw', 'text-start', 'reasoning-start']);

const tooLong = (name: string): string => `${name} sent an answer that does not end`;

/** Converts an error of the stream. One that the endpoint put into its stream is plain JSON. */
const errorOf = (name: string, error: unknown): unknown =>
  error instanceof Error ? readable(name, error) : framedFailure(name, error);

/** Converts a RangeError, the result of a reply that is nested too deep for the SDK's recursion. */
const readable = (name: string, error: unknown): unknown =>
  error instanceof RangeError
    ? new ModelFailure('invalid_reply', `${name} sent a reply that is nested too deep`)
    : error;
