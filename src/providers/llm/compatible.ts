import { endedBy, failureOf } from './failure.js';
import { type Model, ModelFailure, type Price, type Step, type StepReply } from './model.js';
import { type Came, replyOf } from './reply.js';
import { messagesOf, toolsOf } from './turns.js';
import { type Fetch, framedFailure, wireOf } from './wire.js';

export interface CompatibleOptions {
  name: string;
  /** Who runs the endpoint, as the registry calls it; `openai-compatible` unless given. */
  provider?: string;
  modelId: string;
  /** Up to `/chat/completions`, for example `http://127.0.0.1:11434/v1`. */
  baseUrl: string;
  apiKey?: string;
  /** Tokens. */
  contextWindow: number;
  /** False where the endpoint cannot stream: the text then comes in one piece. */
  streaming?: boolean;
  /** The guarded client's `fetchFor`: address checks and limits of time and size are its. */
  fetch: Fetch;
  price?: Price;
}

/** A model behind any endpoint that speaks OpenAI's chat completions. */
export const createCompatible = (options: CompatibleOptions): Model => ({
  name: options.name,
  provider: options.provider ?? 'openai-compatible',
  contextWindow: options.contextWindow,
  ...(options.price && { price: options.price }),
  step: (asked) => take(options, asked),
});

const take = async (options: CompatibleOptions, asked: Step): Promise<StepReply> => {
  const { name, price, streaming = true } = options;
  const sdk = await load();
  const whole = new AbortController();
  const call = callOf(sdk, options, {
    ...asked,
    signal: AbortSignal.any([asked.signal, whole.signal]),
  });
  try {
    const came = await (asked.onText && streaming ? stream : ask)({ sdk, name, call, asked });
    return replyOf({ name, price, asked, came });
  } catch (error) {
    throw asked.signal.aborted ? endedBy(name, asked.signal) : failureOf(name, error, sdk);
  } finally {
    // A reply that is given up halfway would otherwise hold its connection.
    whole.abort();
  }
};

/** The AI SDK takes some 80 ms and 23 MB to load, so it comes with the first call. */
const load = async () => {
  const [ai, { createOpenAICompatible }] = await Promise.all([
    import('ai'),
    import('@ai-sdk/openai-compatible'),
  ]);
  // The SDK's only switch for warnings, which it prints to the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return { ...ai, createOpenAICompatible };
};

type Sdk = Awaited<ReturnType<typeof load>>;

/** One step and no second try: loops, fallbacks and cool-downs are the runtime's. */
const callOf = (sdk: Sdk, options: CompatibleOptions, asked: Step) => {
  const { modelId, baseUrl, apiKey } = options;
  const endpoint = sdk.createOpenAICompatible({
    name: 'compatible',
    baseURL: baseUrl,
    apiKey,
    includeUsage: true,
    fetch: wireOf(options.name, options.fetch),
  });
  return {
    model: endpoint.chatModel(modelId),
    messages: messagesOf(asked.turns),
    allowSystemInMessages: true,
    tools: toolsOf(sdk, asked.tools),
    maxOutputTokens: asked.maxOutputTokens,
    stopWhen: sdk.stepCountIs(1),
    maxRetries: 0,
    abortSignal: asked.signal,
  };
};

interface Asking {
  sdk: Sdk;
  name: string;
  call: ReturnType<typeof callOf>;
  asked: Step;
}

/** One JSON reply. */
const ask = async ({ sdk, name, call, asked }: Asking): Promise<Came> => {
  const came = await sdk.generateText(call).catch((error: unknown) => {
    throw readable(name, error);
  });
  if (came.text !== '') asked.onText?.(came.text);
  return came;
};

/** Server-sent events, each piece of text handed on as it comes. */
const stream = async ({ sdk, name, call, asked }: Asking): Promise<Came> => {
  // Errors come as parts of the stream; unless told so, the SDK prints them too.
  const result = sdk.streamText({ ...call, onError: () => {} });
  const came: Came = { text: '', toolCalls: [], usage: {}, finishReason: 'error' };
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw errorOf(name, part.error);
    if (part.type === 'abort') throw call.abortSignal.reason;
    if (part.type === 'tool-call') came.toolCalls.push(part);
    if (part.type === 'finish') {
      came.usage = part.totalUsage;
      came.finishReason = part.finishReason;
    }
    if (part.type !== 'text-delta') continue;
    came.text += part.text;
    asked.onText?.(part.text);
  }
  return came;
};

/** What the endpoint puts into its stream as an error is plain JSON. */
const errorOf = (name: string, error: unknown): unknown =>
  error instanceof Error ? readable(name, error) : framedFailure(name, error);

/** The SDK reads replies by recursion: one that is nested too deep ends in a RangeError. */
const readable = (name: string, error: unknown): unknown =>
  error instanceof RangeError
    ? new ModelFailure('invalid_reply', `${name} sent a reply that is nested too deep`)
    : error;
