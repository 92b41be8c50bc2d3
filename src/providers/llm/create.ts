import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { adapters, type ModelEndpoint, type Provider } from './adapters.js';
import { askStreamed, askWhole } from './call.js';
import type { DialectTraits } from './dialect.js';
import { createOwnErrors, endedBy, modelFailure, refuseUnsendable } from './failure.js';
import { withoutApiKey, withoutKey } from './hidekey.js';
import { boundedLines } from './lines.js';
import type { Model, ModelFailure, ModelRequest, Price, StepReply } from './model.js';
import { replyOf } from './reply.js';
import { createReplyReader, guessReasoning, type ReasoningTraits } from './replytext.js';
import { createTally, withUsage } from './tally.js';
import { type ModelTimeouts, watchTimeouts } from './timeouts.js';
import { functionTools, promptOf } from './turns.js';
import { wireOf } from './wire.js';

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

/** Creates a model that calls the endpoint of a provider. */
export const openAiSdkModel = (options: ModelOptions): Model => {
  const learned: ObservedEndpoint = {
    adaptations: new Set(),
    hidesReasoning: false,
    ...guessReasoning(options.modelId),
  };
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

/** The model's properties, as far as its replies have shown them. */
interface ObservedEndpoint extends DialectTraits, ReasoningTraits {
  /** True if it reasons without showing that, so that it may have generated more than was seen. */
  hidesReasoning: boolean;
}

/** A model that is opened, and the function to call for a reply that begins. */
interface OpenedModel {
  model: LanguageModelV4;
  /** Calls `begun` when a reply with a success status begins, for the call with that signal. */
  watch(signal: AbortSignal, begun: () => void): void;
}

/** Returns the function that opens the model at the first call, and gives the same one after. */
const openOnce = (
  { name, provider, modelId, baseUrl, fetch }: ModelOptions,
  traits: DialectTraits,
): (() => Promise<OpenedModel>) => {
  const watched = new WeakMap<AbortSignal, () => void>();
  const begun = (signal: AbortSignal): void => watched.get(signal)?.();
  const wire = boundedLines(name, wireOf({ name, fetch, traits, begun }));
  let opening: Promise<OpenedModel> | undefined;
  const open = async (): Promise<OpenedModel> => ({
    model: await adapters[provider].open({ name, modelId, baseUrl, fetch: wire }),
    watch: (signal, call) => void watched.set(signal, call),
  });
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
};

type OpenableModel = ModelOptions & { open(): Promise<OpenedModel> };

const take = async (
  options: OpenableModel,
  learned: ObservedEndpoint,
  given: ModelRequest,
): Promise<StepReply> => {
  const { name, modelId, price, streaming = true, timeouts = TIMEOUTS } = options;
  const apiKey = (await options.keyOf?.()) ?? options.apiKey;
  refuseUnsendable(name, apiKey);
  const ownErrors = createOwnErrors();
  const whole = new AbortController();
  const watch = watchTimeouts(name, timeouts);
  const asked = { ...given, maxOutputTokens: given.maxOutputTokens ?? options.maxOutputTokens };
  const isStreamed = asked.onText !== undefined && streaming;
  const askModel = isStreamed ? askStreamed : askWhole;
  const tally = createTally();
  let isRead = false;
  try {
    const signal = AbortSignal.any([asked.signal, watch.signal, whole.signal]);
    const { model, watch: watchBegin } = await options.open();
    watchBegin(signal, tally.begin);
    const call = callOf({ ...options, apiKey }, { ...asked, signal });
    const listener = openListener(asked, apiKey, ownErrors.from);
    const heard = { ...asked, ...listener };
    const reader = createReplyReader({ name, modelId, asked: heard, traits: learned });
    const sdkReply = await askModel({ name, model, call, reader, watch, tally });
    isRead = !sdkReply.isCutOff;
    listener.end();
    const reply = replyOf({ name, price, asked, sdkReply });
    return await withoutKey(reply, apiKey);
  } catch (error) {
    if (ownErrors.includes(error) && !asked.signal.aborted) throw error;
    const failure = failureOf(name, error, [asked.signal, watch.signal]);
    throw withUsage(failure, { tally, asked, price, isStreamed, ...learned });
  } finally {
    if (tally.hidesReasoning) learned.hidesReasoning = true;
    watch.stop();
    // Otherwise an abandoned reply would keep its connection open.
    if (!isRead) whole.abort();
  }
};

/** Opens what passes text on to the caller without the key. */
const openListener = (
  { onText, onRestart }: Pick<ModelRequest, 'onText' | 'onRestart'>,
  apiKey: string | undefined,
  own: (work: () => void) => void,
) => {
  const open = () => withoutApiKey(apiKey, (text) => own(() => onText?.(text)));
  let shown = open();
  return {
    onText: (text: string): void => shown.take(text),
    onRestart: (): void => {
      shown = open();
      own(() => onRestart?.());
    },
    end: (): void => shown.end(),
  };
};

/** Returns the failure of a call: the reason of an aborted signal, or what the error says. */
const failureOf = (name: string, error: unknown, [asked, watch]: AbortSignal[]): ModelFailure => {
  if (asked?.aborted) return endedBy(name, asked);
  return watch?.aborted ? watch.reason : modelFailure(name, error);
};

/**
 * Returns one call: one step, no retries. Loops, fallbacks and cool-downs belong to the runtime. The
 * adapters are called by their own interface: the functions for applications that the AI SDK puts
 * over it check every message and pass every token through a chain of streams, which took two
 * thirds of the processor time of a step.
 */
const callOf = (
  { name, modelId, provider, apiKey, contextWindow }: ModelOptions,
  asked: ModelRequest & { signal: AbortSignal },
): LanguageModelV4CallOptions => {
  const adapter = adapters[provider];
  const { maxOutputTokens } = asked;
  return {
    prompt: promptOf({ name, modelId }, asked.turns),
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
