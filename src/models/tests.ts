import type { Caller } from '../kernel/contract/endpoint.js';
import { refuseFaults } from '../kernel/route.js';
import type { EmbeddingModel } from '../providers/llm/embeddings.js';
import { type Model, ModelFailure, type ModelRequest } from '../providers/llm/model.js';
import type { ModelTrial, ProbeResult } from './contract.js';
import type { ModelHealths } from './health.js';
import { filledIn, isProvider, providerFaults } from './rules.js';
import { checkModelCredential, findModel, type ModelsDeps } from './service.js';

/** Ours: number of models that are checked at the same time. */
const AT_ONCE = 8;

/** Sends one tiny prompt to a model that is not registered. */
export const testUnregistered = async (
  deps: ModelsDeps,
  { provider, modelId, baseUrl = null, credentialId, apiKey }: ModelTrial,
  by: Caller,
): Promise<ProbeResult> => {
  refuseFaults(providerFaults({ provider, modelId, baseUrl, credentialId, apiKey }));
  if (!isProvider(provider)) throw new Error(`No adapter speaks to ${provider}`);
  await checkModelCredential(deps, credentialId, by);
  const key = credentialId === undefined ? apiKey : await deps.keys.newest(credentialId);
  if (key === null) refuseFaults([{ path: 'credentialId', message: 'has expired' }]);
  const model = deps.openModel({
    ...filledIn({ provider, modelId }),
    embedding: null,
    name: `${provider}/${modelId}`,
    provider,
    modelId,
    baseUrl,
    ...(typeof key === 'string' && { apiKey: key }),
  });
  return probe(model, by.signal);
};

/** Sends one tiny prompt to a registered model and updates its health. */
export const checkModel = async (
  deps: ModelsDeps,
  name: string,
  signal: AbortSignal,
): Promise<ProbeResult> => {
  const entry = findModel(deps, name);
  const because = entry.whyKeyless();
  if (because !== null) return { ok: false, latencyMs: 0, error: `${name}: ${because}` };
  if (entry.embedder) return probeEmbedder(entry.name, entry.embedder, { signal, deps });
  return probe(entry.model, signal, deps.modelHealth);
};

/** Has a model make the vector of one word. */
const probeEmbedder = async (
  name: string,
  embedder: EmbeddingModel,
  { signal, deps: { modelHealth } }: { signal: AbortSignal; deps: ModelsDeps },
): Promise<ProbeResult> => {
  const since = performance.now();
  const took = (): number => Math.round(performance.now() - since);
  const limit = AbortSignal.timeout(PROBE_MS);
  try {
    const { vectors } = await embedder.embed(['ok'], AbortSignal.any([signal, limit]));
    modelHealth.replied(name, took());
    return { ok: true, latencyMs: took(), reply: `${vectors[0]?.length} dimensions` };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    if (!limit.aborted) modelHealth.failed(name, error);
    return { ok: false, latencyMs: took(), error: error.message };
  }
};

export const checkAllModels = async (deps: ModelsDeps, signal: AbortSignal): Promise<void> => {
  const names = deps.registry.list().flatMap(({ name, isEnabled }) => (isEnabled ? [name] : []));
  const next = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      await checkModel(deps, name, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
};

/** Ours: a person who waits for the result does not wait longer. A model here may have to load first. */
const PROBE_MS = 20_000;
const LOADING_PROBE_MS = 100_000;
const LONGEST_REPLY = 200;

/** Asks the model for one word; nothing is stored. Pass `health` for a registered model. */
const probe = async (
  model: Model,
  signal: AbortSignal,
  health?: ModelHealths,
): Promise<ProbeResult> => {
  const since = performance.now();
  const took = (): number => Math.round(performance.now() - since);
  const isLoaded = model.provider !== 'llama';
  const limit = AbortSignal.timeout(isLoaded ? PROBE_MS : LOADING_PROBE_MS);
  const step: ModelRequest = {
    turns: [{ role: 'user', content: 'Answer with the one word: ok' }],
    tools: [],
    // Enough for models that reason before they reply.
    maxOutputTokens: 512,
    signal: AbortSignal.any([signal, limit]),
    onText: () => {},
  };
  try {
    const { text } = await model.step(step);
    health?.replied(model.name, took());
    return { ok: true, latencyMs: took(), reply: text.trim().slice(0, LONGEST_REPLY) };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    // A timeout of this test says little about a model that is still loading.
    if (!limit.aborted) health?.failed(model.name, error);
    return { ok: false, latencyMs: took(), error: error.message };
  }
};
