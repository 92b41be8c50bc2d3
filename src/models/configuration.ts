import type { Config } from '../config.js';
import { usableCores } from '../providers/hardware/cores.js';
import { digest } from '../providers/llm/digest.js';
import type { ModelTimeouts } from '../providers/llm/timeouts.js';
import { OpenRefused } from '../store/engine/protocol.js';
import { ALL, type ConfiguredModel } from './registry.js';

export const configuredModel = (config: Config): ConfiguredModel | null => {
  const { modelUrl, modelName, modelKey } = config;
  if (modelUrl === null) return null;
  if (modelName === null) {
    throw new OpenRefused(
      'ADJUTANT_MODEL_URL is set, but ADJUTANT_MODEL_NAME is not. Set both variables.',
    );
  }
  if (modelName === digest.name) {
    throw new OpenRefused(
      'ADJUTANT_MODEL_NAME must not be digest, which is the name of the built-in model',
    );
  }
  const { modelInputPrice: inputPerMTok, modelOutputPrice: outputPerMTok } = config;
  return {
    name: modelName,
    provider: 'openai-compatible',
    modelId: modelName,
    baseUrl: modelUrl,
    ...(modelKey !== null && { apiKey: modelKey }),
    contextWindow: config.modelContext,
    maxOutputTokens: null,
    fallbacks: config.modelDigest ? [digest.name] : [],
    supports: ALL,
    embedding: null,
    orgId: null,
    price: inputPerMTok > 0 || outputPerMTok > 0 ? { inputPerMTok, outputPerMTok } : null,
  };
};

export const llamaLimits = ({ llamaLoadSeconds, llamaIdleMinutes, llamaGpu }: Config) => ({
  loadMs: llamaLoadSeconds * 1000,
  idleMs: llamaIdleMinutes * 60_000,
  useGpu: llamaGpu,
  threads: usableCores,
});

export const modelTimeouts = (config: Config): ModelTimeouts => ({
  firstTokenMs: config.modelFirstTokenSeconds * 1000,
  silenceMs: config.modelSilenceSeconds * 1000,
  totalMs: config.modelTotalSeconds * 1000,
});
