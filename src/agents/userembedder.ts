import type { Clock } from '../kernel/clock.js';
import {
  DayLimitReached,
  type Embedder,
  EmbedderFailed,
  type EmbedderSource,
} from '../knowledge/module.js';
import {
  EMBEDDINGS,
  type ModelHealths,
  type RegisteredModel,
  type Registry,
} from '../models/module.js';
import type { EmbeddedTexts, EmbeddingModel } from '../providers/llm/embeddings.js';
import { ModelFailure, type ModelFailureKind } from '../providers/llm/model.js';
import { usageWith } from '../providers/llm/tally.js';
import { cutToTokens, textTokens } from '../providers/llm/tokens.js';
import type { Store } from '../store/store.js';
import { LimitReached, openBudget, settleReserved } from './budget.js';

interface UserEmbedderDeps {
  store: Store;
  clock: Clock;
  registry: Registry;
  health: ModelHealths;
  dailyCostUsd: number;
}

/** Texts per call, and the time limit for the vector of a query in milliseconds. */
const AT_ONCE = 32;
const QUERY_MS = 2000;
/** Providers that load a model at its first request, and drop the load with the request. */
const LOADING = ['llama', 'ollama'];
/** Some servers return 500 for a text, hang, or end. */
const MAY_BE_OF_TEXT: ModelFailureKind[] = [
  'bad_request',
  'context_length',
  'invalid_reply',
  'refused_connection',
  'server',
  'timeout',
];

/** The cost counts towards the daily limits of the user. */
export const createEmbedderSource = (deps: UserEmbedderDeps): EmbedderSource => {
  const { registry } = deps;
  const embedderOf = (entry: RegisteredModel): Embedder | null => {
    const { name, provider, modelId, embedding, embedder } = entry;
    if (!embedding || !embedder) return null;
    const { dimensions, queryPrefix, documentPrefix, weight } = embedding;
    return {
      key: JSON.stringify([provider, modelId, dimensions, queryPrefix, documentPrefix]),
      name,
      dimensions,
      weight,
      isEnglish: false,
      leastLikeness: 0,
      atOnce: AT_ONCE,
      queryMs: QUERY_MS,
      isQueued: LOADING.includes(provider),
      embed: async (texts, call) => {
        const prefix = call.use === 'query' ? queryPrefix : documentPrefix;
        const cut = texts.map((text) => cutToTokens(prefix + text, embedding.maxInputTokens));
        return (await embedWithBudget(deps, { entry, embedder, texts: cut }, call)).vectors;
      },
    };
  };
  return {
    routed: () => {
      const route = registry.routes().find(({ topic }) => topic === EMBEDDINGS);
      const entry = route && registry.find(route.primary);
      if (!entry) return null;
      if (!entry.isEnabled) return { reason: `The embedder ${entry.name} is disabled` };
      return embedderOf(entry) ?? { reason: `The model ${entry.name} does not support embeddings` };
    },
    withKey: (key) => {
      for (const entry of registry.list()) {
        const embedder = entry.isEnabled ? embedderOf(entry) : null;
        if (embedder?.key === key) return embedder;
      }
      return null;
    },
  };
};

interface ChargedTexts {
  entry: RegisteredModel;
  embedder: EmbeddingModel;
  texts: string[];
}

/** Throws DayLimitReached if the daily limits forbid the call. */
const embedWithBudget = async (
  deps: UserEmbedderDeps,
  { entry, embedder, texts }: ChargedTexts,
  { userId, askedBy, signal }: Parameters<Embedder['embed']>[1],
): Promise<EmbeddedTexts> => {
  const { store, clock, health, dailyCostUsd } = deps;
  const { name, price } = entry;
  const keyless = entry.whyKeyless();
  if (keyless !== null) throw new EmbedderFailed(`${name}: ${keyless}`);
  const budget = openBudget(
    { store, clock, access: { dailyCostUsd } },
    { agent: { id: askedBy, user_id: userId, hook_id: null }, isNoAgent: true, signal },
  );
  const inputTokens = texts.reduce((sum, text) => sum + textTokens(text), 0);
  const quote = { model: name, price, inputTokens, outputTokens: 0 };
  const reserved = await budget.reserve(quote).catch((error: unknown) => {
    throw error instanceof LimitReached ? new DayLimitReached() : error;
  });
  if (reserved === 'gone' || reserved === null) throw new DayLimitReached();
  const since = performance.now();
  const tookMs = (): number => Math.round(performance.now() - since);
  try {
    const embedded = await embedder.embed(texts, signal);
    health.replied(name, tookMs());
    const usage = usageWith(price ?? undefined, embedded.inputTokens, 0);
    await store.transact(settleReserved({ clock }, reserved, { usage, latencyMs: tookMs() }));
    return embedded;
  } catch (error) {
    const failure = error instanceof ModelFailure ? error : null;
    await budget.close(reserved, failure?.usage, tookMs());
    if (signal.aborted) throw signal.reason;
    if (!failure) throw error;
    health.failed(name, failure);
    throw failedEmbedder(failure);
  }
};

const failedEmbedder = ({ message, kind }: ModelFailure): EmbedderFailed => {
  const failed = new EmbedderFailed(message);
  failed.mayBeOfText = MAY_BE_OF_TEXT.includes(kind);
  return failed;
};
