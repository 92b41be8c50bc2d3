import type { ModelsModule } from '../models/module.js';
import { ggufOf } from './candidates.js';
import type { UseCase } from './catalogue.js';
import { DownloadFailed } from './download.js';
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
}

/** Ours: the context window with which an installed model is registered, in tokens. */
const USUAL_WINDOW = 8192;
/** Ours: a file whose header holds no model is told after this long, in milliseconds. */
const HEADER_MS = 60_000;

/**
 * Creates what registers an installed model for a use. Returns its name; null for what is no language
 * model, such as one for speech. Throws DownloadFailed if its file cannot be read.
 */
export const createRegistration =
  ({ models, shelf, headers, ollamaUrl }: RegistrationDeps) =>
  async (plan: InstallPlan, useCase: UseCase): Promise<string | null> => {
    if (useCase === 'speech') return null;
    const contextWindow = Math.min(USUAL_WINDOW, windowOf(plan) ?? USUAL_WINDOW);
    if (plan.via === 'ollama') {
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
      contextWindow: Math.max(256, Math.min(contextWindow, header.contextLength ?? contextWindow)),
      supports: {
        tools: header.hasTools || plan.useCases.includes('tools'),
        embeddings: isEmbedding,
      },
      ...(isEmbedding && { embedding: { dimensions: header.embeddingLength } }),
    });
  };

const windowOf = (plan: InstallPlan): number | null =>
  plan.via === 'npm' ? null : plan.contextWindow;
