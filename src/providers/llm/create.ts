import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { type Clock, systemClock } from '../../kernel/clock.js';
import { adapters, type ModelEndpoint, type Provider } from './adapters.js';
import { askStreamed, askWhole } from './call.js';
import type { DialectTraits } from './dialect.js';
import { abortFailure, assertKeySendable, createOwnErrors, modelFailure } from './failure.js';
import { redactKey, redactKeyStream } from './hidekey.js';
import { boundedLines } from './lines.js';
import type { Model, ModelFailure, ModelRequest, Price, StepReply } from './model.js';
import { toStepReply } from './reply.js';
import { createReplyReader, guessReasoning, type ReasoningTraits } from './replytext.js';
import { createTally, withUsage } from './tally.js';
import { type ModelTimeouts, watchTimeouts } from './timeouts.js';
import { buildModelPrompt, functionTools } from './turns.js';
import { createWireFetch } from './wire.js';

/**
 * `fetch` is `fetchFor` of the guarded client. The base URL excludes `/chat/completions`,
 * `/messages` and `/models`. That of Ollama is its root.
 */
export interface ModelOptions extends ModelEndpoint {
  provider: Provider;
  apiKey?: string;
  /** Replaces `apiKey`. Called at each step, so that no key stays in memory. */
  keyOf?(): Promise<string | null>;
  contextWindow: number;
  /** Default limit of a reply, in tokens. */
  maxOutputTokens?: number;
  /** False if the endpoint does not stream. */
  streaming?: boolean;
  takesTools?: boolean;
  price?: Price;
  timeouts?: ModelTimeouts;
  clock?: Clock;
}

/** Half an hour for a whole reply. */
const TIMEOUTS: ModelTimeouts = { firstTokenMs: 120_000, silenceMs: 60_000, totalMs: 1_800_000 };

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
    step: (request) => take({ ...options, open }, learned, request),
  };
};

/** Properties of the model that its replies have shown. */
interface ObservedEndpoint extends DialectTraits, ReasoningTraits {
  /** Whether the model reasons invisibly, so that it may have generated more than was seen. */
  hidesReasoning: boolean;
}

interface OpenedModel {
  model: LanguageModelV4;
  /** Calls `begun` when a successful reply to the call with that signal starts. */
  watch(signal: AbortSignal, begun: () => void): void;
}

const openOnce = (
  { name, provider, modelId, baseUrl, fetch }: ModelOptions,
  traits: DialectTraits,
): (() => Promise<OpenedModel>) => {
  const watched = new WeakMap<AbortSignal, () => void>();
  const begun = (signal: AbortSignal): void => watched.get(signal)?.();
  const wire = boundedLines(name, createWireFetch({ name, modelId, fetch, traits, begun }));
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
  modelRequest: ModelRequest,
): Promise<StepReply> => {
  const { name, modelId, price, streaming = true } = options;
  const { timeouts = TIMEOUTS, clock = systemClock } = options;
  const apiKey = (await options.keyOf?.()) ?? options.apiKey;
  assertKeySendable(name, apiKey);
  const ownErrors = createOwnErrors();
  const whole = new AbortController();
  const watch = watchTimeouts(clock, name, timeouts);
  const request = {
    ...modelRequest,
    maxOutputTokens: modelRequest.maxOutputTokens ?? options.maxOutputTokens,
  };
  const isStreamed = request.onText !== undefined && streaming;
  const askModel = isStreamed ? askStreamed : askWhole;
  const tally = createTally();
  let isRead = false;
  try {
    const signal = AbortSignal.any([request.signal, watch.signal, whole.signal]);
    const { model, watch: watchBegin } = await options.open();
    watchBegin(signal, tally.begin);
    const call = buildCallOptions({ ...options, apiKey }, { ...request, signal });
    const listener = openListener(request, apiKey, ownErrors.from);
    const listeningRequest = { ...request, ...listener };
    const reader = createReplyReader({ name, modelId, request: listeningRequest, traits: learned });
    const sdkReply = await askModel({ name, model, call, reader, watch, tally });
    isRead = !sdkReply.isCutOff;
    listener.end();
    const reply = toStepReply({ name, price, request, sdkReply });
    return await redactKey(reply, apiKey);
  } catch (error) {
    if (ownErrors.includes(error) && !request.signal.aborted) throw error;
    const failure = toModelFailure(name, error, [request.signal, watch.signal]);
    throw withUsage(failure, { tally, request, price, isStreamed, ...learned });
  } finally {
    if (tally.hidesReasoning) learned.hidesReasoning = true;
    watch.stop();
    // Otherwise an abandoned reply would keep its connection open.
    if (!isRead) whole.abort();
  }
};

const openListener = (
  { onText, onRestart }: Pick<ModelRequest, 'onText' | 'onRestart'>,
  apiKey: string | undefined,
  own: (work: () => void) => void,
) => {
  const open = () => redactKeyStream(apiKey, (text) => own(() => onText?.(text)));
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

/** The reason of an aborted signal takes precedence. */
const toModelFailure = (
  name: string,
  error: unknown,
  [request, watch]: AbortSignal[],
): ModelFailure => {
  if (request?.aborted) return abortFailure(name, request);
  return watch?.aborted ? watch.reason : modelFailure(name, error);
};

/**
 * One call without retries. The low-level interface is used because the high-level functions of the
 * AI SDK took two thirds of the processor time of a step.
 */
const buildCallOptions = (
  { name, modelId, provider, apiKey, contextWindow }: ModelOptions,
  request: ModelRequest & { signal: AbortSignal },
): LanguageModelV4CallOptions => {
  const adapter = adapters[provider];
  const { maxOutputTokens } = request;
  return {
    prompt: buildModelPrompt({ name, modelId }, request.turns),
    ...(request.tools.length > 0 && {
      tools: functionTools(request.tools),
      toolChoice: { type: 'auto' },
    }),
    maxOutputTokens,
    ...(adapter.options && {
      providerOptions: adapter.options({ contextWindow, maxOutputTokens }),
    }),
    ...(apiKey && { headers: adapter.keyHeader(apiKey) }),
    abortSignal: request.signal,
  };
};
