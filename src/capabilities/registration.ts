import type { ModelsModule } from '../models/module.js';
import type { GgufHeader } from '../providers/gguf/header.js';
import { ggufOf } from './candidates.js';
import type { UseCase } from './catalogue.js';
import { DownloadFailed } from './download.js';
import { memoryOf } from './fit/memory.js';
import type { HeaderReader } from './headers.js';
import { LLAMA } from './packages.js';
import type { InstallPlan } from './plan.js';
import type { Shelf } from './shelf.js';

interface RegistrationDeps {
  models: Pick<ModelsModule, 'register'>;
  shelf: Shelf;
  headers: HeaderReader;
  /** Returns the address of Ollama; null for its usual one. */
  ollamaUrl(): string | null;
  /** Returns the bytes of memory that are free now; null: not known. */
  freeBytes(): Promise<number | null>;
}

/** Ours: the context window of a model of Ollama, of which nothing else is known, in tokens. */
const USUAL_WINDOW = 8192;
/** Ours: the context windows with which an installed model is registered, the first that fits. */
const WINDOWS = [32_768, 16_384, 8192, 4096];
/** Ours: a model takes at most this share of the memory that is free when it is registered. */
const SHARE = 0.5;
/** Ours: a file whose header holds no model is told after this long, in milliseconds. */
const HEADER_MS = 60_000;

/**
 * Creates what registers an installed model for a use. Returns its name; null for what is no language
 * model, such as one for speech. Throws DownloadFailed if its file cannot be read.
 */
export const createRegistration =
  ({ models, shelf, headers, ollamaUrl, freeBytes }: RegistrationDeps) =>
  async (plan: InstallPlan, useCase: UseCase): Promise<string | null> => {
    if (useCase === 'speech') return null;
    if (plan.via === 'ollama') {
      const contextWindow = Math.min(USUAL_WINDOW, plan.contextWindow ?? USUAL_WINDOW);
      const { slug: name, model: modelId } = plan;
      const baseUrl = ollamaUrl();
      return models.register({ name, provider: 'ollama', modelId, baseUrl, contextWindow });
    }
    const found = await shelf.find(plan.slug);
    const path = found && ggufOf(found);
    if (!path) return null;
    const { header, fault } = await headers(path, AbortSignal.timeout(HEADER_MS));
    if (!header) throw new DownloadFailed(`${plan.slug}: ${fault}`, false);
    const isEmbedding = header.isEmbedding || useCase === 'embedding';
    return models.register({
      name: plan.slug,
      provider: LLAMA,
      modelId: plan.slug,
      contextWindow: windowFor(header, await freeBytes()),
      supports: {
        tools: header.hasTools || plan.useCases.includes('tools'),
        embeddings: isEmbedding,
      },
      ...(isEmbedding && { embedding: { dimensions: header.embeddingLength } }),
    });
  };

/** Returns the largest of the windows that the model was made for and that leaves memory to others. */
const windowFor = (header: GgufHeader, freeBytes: number | null): number => {
  const longest = header.contextLength ?? USUAL_WINDOW;
  const fits = (contextWindow: number): boolean =>
    freeBytes === null
      ? contextWindow <= USUAL_WINDOW
      : memoryOf(header, { contextWindow }).totalBytes <= SHARE * freeBytes;
  const found = WINDOWS.find((each) => each <= longest && fits(each));
  return found ?? Math.max(256, Math.min(longest, WINDOWS.at(-1) ?? longest));
};
