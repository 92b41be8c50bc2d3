import { adapters, type Endpoint, leadingSystem, type Provider } from './adapters.js';
import { endedBy, failureOf } from './failure.js';
import { hiding, withoutKey } from './hiding.js';
import { boundedLines } from './lines.js';
import { type Model, ModelFailure, type Price, type Step, type StepReply } from './model.js';
import { type Patience, type Watch, watchOver } from './patience.js';
import { type Came, replyOf } from './reply.js';
import { messagesOf, toolsOf } from './turns.js';
import { framedFailure, wireOf } from './wire.js';

/**
 * Of the guarded client, `fetch` is its `fetchFor`: address checks and limits of the connection are
 * its. The base URL goes up to `/chat/completions`, `/messages` or `/models`; Ollama's is its root.
 */
export interface ModelOptions extends Endpoint {
  provider: Provider;
  /** In place of `apiKey`: asked for at each step, so that no key lies in memory between them. */
  keyOf?(): Promise<string | null>;
  /** Tokens. */
  contextWindow: number;
  /** Tokens of one answer, where the step does not say; the provider's own bound unless given. */
  maxOutputTokens?: number;
  /** False where the endpoint cannot stream: the text then comes in one piece. */
  streaming?: boolean;
  /** False where the model knows no tools. */
  takesTools?: boolean;
  price?: Price;
  patience?: Patience;
}

/** Ours: half an hour for a whole answer. */
const PATIENCE: Patience = { firstTokenMs: 120_000, silenceMs: 60_000, totalMs: 1_800_000 };
/** Characters; what is longer is no answer. */
const LONGEST_TEXT = 4 * 1024 * 1024;

/** A model behind the endpoint of a provider. */
export const createModel = (options: ModelOptions): Model => ({
  name: options.name,
  provider: options.provider,
  contextWindow: options.contextWindow,
  takesTools: options.takesTools !== false,
  ...(options.price && { price: options.price }),
  step: (asked) => take(options, asked),
});

const take = async (options: ModelOptions, asked: Step): Promise<StepReply> => {
  const { name, price, streaming = true, patience = PATIENCE } = options;
  const sdk = await load();
  const whole = new AbortController();
  const watch = watchOver(name, patience);
  try {
    const signal = AbortSignal.any([asked.signal, watch.signal, whole.signal]);
    const apiKey = (await options.keyOf?.()) ?? options.apiKey;
    const call = await callOf(sdk, { ...options, ...(apiKey && { apiKey }) }, { ...asked, signal });
    const { take: onText, end } = hiding(apiKey, (text) => asked.onText?.(text));
    const asking = { sdk, name, call, asked: { ...asked, onText }, watch };
    const came = await (asked.onText && streaming ? stream : ask)(asking);
    end();
    const reply = replyOf({ name, price, asked, came });
    return { ...reply, text: withoutKey(reply.text, apiKey) };
  } catch (error) {
    if (asked.signal.aborted) throw endedBy(name, asked.signal);
    throw watch.signal.aborted ? watch.signal.reason : failureOf(name, error, sdk);
  } finally {
    watch.stop();
    // A reply that is given up halfway would otherwise hold its connection.
    whole.abort();
  }
};

/** The AI SDK takes some 80 ms and 23 MB to load, so it comes with the first call. */
const load = async () => {
  const sdk = await import('ai');
  // The SDK's only switch for warnings, which it prints to the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return sdk;
};

type Sdk = Awaited<ReturnType<typeof load>>;

/** One step and no second try: loops, fallbacks and cool-downs are the runtime's. */
const callOf = async (sdk: Sdk, options: ModelOptions, asked: Step) => {
  const { name, provider, contextWindow } = options;
  const adapter = adapters[provider];
  const messages = messagesOf(asked.turns);
  const maxOutputTokens = asked.maxOutputTokens ?? options.maxOutputTokens;
  return {
    model: await adapter.open({
      ...options,
      fetch: boundedLines(name, wireOf(name, options.fetch)),
    }),
    messages: adapter.isSystemFirst ? leadingSystem(messages) : messages,
    allowSystemInMessages: true,
    tools: toolsOf(sdk, asked.tools),
    maxOutputTokens,
    ...(adapter.options && {
      providerOptions: adapter.options({ contextWindow, maxOutputTokens }),
    }),
    stopWhen: sdk.stepCountIs(1),
    maxRetries: 0,
    abortSignal: asked.signal,
  };
};

interface Asking {
  sdk: Sdk;
  name: string;
  call: Awaited<ReturnType<typeof callOf>>;
  asked: Step;
  watch: Watch;
}

/** One JSON reply. */
const ask = async ({ sdk, name, call, asked }: Asking): Promise<Came> => {
  const came = await sdk.generateText(call).catch((error: unknown) => {
    throw readable(name, error);
  });
  if (came.text !== '') asked.onText?.(came.text);
  return came;
};

/** Pieces as the provider streams them, each piece of text handed on as it comes. */
const stream = async ({ sdk, name, call, asked, watch }: Asking): Promise<Came> => {
  // Errors come as parts of the stream; unless told so, the SDK prints them too.
  const result = sdk.streamText({ ...call, onError: () => {} });
  const came: Came = { text: '', toolCalls: [], usage: {}, finishReason: 'error' };
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw errorOf(name, part.error);
    if (part.type === 'abort') throw call.abortSignal.reason;
    if (!SIGNS.has(part.type)) watch.heard();
    if (part.type === 'tool-call') came.toolCalls.push(part);
    if (part.type === 'finish') {
      came.usage = part.totalUsage;
      came.finishReason = part.finishReason;
      came.rawFinishReason = part.rawFinishReason;
    }
    if (part.type !== 'text-delta') continue;
    came.text += part.text;
    if (came.text.length > LONGEST_TEXT) throw new ModelFailure('invalid_reply', tooLong(name));
    asked.onText?.(part.text);
  }
  return came;
};

/** Parts that the SDK makes, or that come before there is a token. */
const SIGNS = new Set(['start', 'start-step', 'raw', 'text-start', 'reasoning-start']);

const tooLong = (name: string): string => `${name} sent an answer that does not end`;

/** What the endpoint puts into its stream as an error is plain JSON. */
const errorOf = (name: string, error: unknown): unknown =>
  error instanceof Error ? readable(name, error) : framedFailure(name, error);

/** The SDK reads replies by recursion: one that is nested too deep ends in a RangeError. */
const readable = (name: string, error: unknown): unknown =>
  error instanceof RangeError
    ? new ModelFailure('invalid_reply', `${name} sent a reply that is nested too deep`)
    : error;
