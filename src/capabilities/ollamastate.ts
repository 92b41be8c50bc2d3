import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { RegisteredModel } from '../models/module.js';
import { adapters } from '../providers/llm/adapters.js';
import { ModelListUnavailable, ollamaModels } from '../providers/llm/available.js';

export interface OllamaState {
  baseUrl: string;
  /** `qwen3:4b`. */
  models: string[];
  fault: string | null;
}

/** Address of the newest registered Ollama model, else the default. */
export const ollamaAddress = (models: Pick<RegisteredModel, 'provider' | 'baseUrl'>[]): string =>
  models.find(({ provider, baseUrl }) => provider === 'ollama' && baseUrl !== null)?.baseUrl ??
  adapters.ollama.baseUrl ??
  '';

/** null for the default address. */
export const ownAddress = (address: string): string | null =>
  address === adapters.ollama.baseUrl ? null : address;

const PATIENCE_MS = 2000;

const withTimeout = async <T>(requested: Promise<T>, clock: Clock): Promise<T> => {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    const failure = new ModelListUnavailable(`no response for ${PATIENCE_MS / 1000} s`);
    cancel = clock.after(PATIENCE_MS, () => reject(failure));
  });
  // A late rejection is ignored.
  requested.catch(() => undefined);
  return Promise.race([requested, late]).finally(cancel);
};

export const ollamaState = async (
  http: Http,
  baseUrl: string,
  clock: Clock,
): Promise<OllamaState> => {
  try {
    const models = await withTimeout(ollamaModels(http, { baseUrl }), clock);
    return { baseUrl, models: [...new Set(models.map(({ modelId }) => modelId))], fault: null };
  } catch (error) {
    if (!(error instanceof ModelListUnavailable)) throw error;
    return { baseUrl, models: [], fault: error.message };
  }
};
