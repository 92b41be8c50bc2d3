import type { Clock } from '../kernel/clock.js';
import type { ModelsModule, ReadLlamaFacts } from '../models/module.js';
import type { GgufHeader } from '../providers/gguf/header.js';
import { findFirstModelFile } from '../providers/llm/llama/files.js';
import { findGgufFile, usesByHeader } from './candidates.js';
import type { UseCase } from './catalogue.js';
import { DownloadFailed } from './downloadfailed.js';
import type { MachineMemory } from './fit/machine.js';
import { DEFAULT_WINDOW, windowFor } from './fit/window.js';
import type { HeaderReader } from './headers.js';
import type { InstalledModels } from './installedmodels.js';
import type { InstallPlan } from './installplan.js';
import { LLAMA } from './packages.js';

interface RegistrationDeps {
  clock: Clock;
  models: Pick<ModelsModule, 'register'>;
  shelf: InstalledModels;
  headers: HeaderReader;
  /** null for the default. */
  ollamaUrl(): string | null;
  memory(): Promise<MachineMemory>;
}

const HEADER_MS = 60_000;

export interface RegistrationUse {
  useCase: UseCase;
  /** In tokens; absent: the default. */
  contextWindow?: number | undefined;
}

/** Returns the model name; null if it is not a language model. Throws DownloadFailed. */
export const createModelRegistration =
  ({ clock, models, shelf, headers, ollamaUrl, memory }: RegistrationDeps) =>
  async (plan: InstallPlan, wanted: RegistrationUse): Promise<string | null> => {
    const { useCase, contextWindow: requested } = wanted;
    if (useCase === 'speech') return null;
    if (plan.via === 'ollama') {
      const window = requested ?? DEFAULT_WINDOW;
      const contextWindow = Math.min(window, plan.contextWindow ?? window);
      const { slug: name, model: modelId } = plan;
      const baseUrl = ollamaUrl();
      return models.register({ name, provider: 'ollama', modelId, baseUrl, contextWindow });
    }
    const found = await shelf.find(plan.slug);
    const path = found && findGgufFile(found);
    if (!path) return null;
    const { header, fault } = await headers(path, clock.deadline(HEADER_MS));
    if (!header)
      throw new DownloadFailed(
        `The file of ${plan.slug} is not a supported model. ${fault}. Download the file again or choose another model`,
        false,
      );
    refuseUnsupportedUseCase(plan, useCase, header);
    refuseShortContext(plan, header);
    const isEmbedding = header.isEmbedding || useCase === 'embedding';
    const longest = header.contextLength;
    const contextWindow =
      requested === undefined
        ? ownWindow(await memory(), header, isEmbedding)
        : Math.min(requested, longest ?? requested);
    return models.register({
      name: plan.slug,
      provider: LLAMA,
      modelId: plan.slug,
      contextWindow,
      supports: {
        tools: header.hasTools || plan.useCases.includes('tools'),
        embeddings: isEmbedding,
        transcription: false,
      },
      ...(isEmbedding && { embedding: { dimensions: header.embeddingLength } }),
    });
  };

const ownWindow = (machine: MachineMemory, header: GgufHeader, isEmbedding: boolean): number => {
  const longest = header.contextLength;
  const most = isEmbedding ? Math.min(longest ?? DEFAULT_WINDOW, DEFAULT_WINDOW) : longest;
  return windowFor(machine, { shape: header, longest: most });
};

export const createLlamaFactsReader =
  ({
    clock,
    shelf,
    headers,
    memory,
  }: Pick<RegistrationDeps, 'clock' | 'shelf' | 'headers' | 'memory'>): ReadLlamaFacts =>
  async (slug, signal) => {
    const path = await findFirstModelFile(shelf.root, slug);
    if (path === null) return null;
    const found = await shelf.find(slug);
    const limit = AbortSignal.any([signal, clock.deadline(HEADER_MS)]);
    const { header } = await headers(path, limit);
    if (!header) return null;
    const { contextLength: longest, isEmbedding, embeddingLength, hasTools } = header;
    return {
      longest,
      contextWindow: ownWindow(await memory(), header, isEmbedding),
      tools: hasTools || found?.useCases.includes('tools') === true,
      dimensions: isEmbedding ? embeddingLength : null,
    };
  };

/** Minimum context of a registered model, in tokens. */
const MIN_WINDOW = 256;

const refuseShortContext = ({ slug }: InstallPlan, { contextLength }: GgufHeader): void => {
  if (contextLength === null || contextLength >= MIN_WINDOW) return;
  throw new DownloadFailed(
    `${slug} is installed but was not registered. The context of the model has ${contextLength} tokens, but at least ${MIN_WINDOW} are required. Install a model with a longer context`,
    false,
  );
};

const refuseUnsupportedUseCase = (
  { slug, useCases }: InstallPlan,
  useCase: UseCase,
  header: GgufHeader,
): void => {
  const own = useCases.length > 0 ? useCases : usesByHeader(header);
  // No header states whether a model writes code well.
  if (own.includes(useCase) || (useCase === 'code' && own.includes('chat'))) return;
  throw new DownloadFailed(
    `useCase: ${slug} is installed but was not registered, because the model does not support the use case ${useCase}. Supported use cases: ${own.join(', ')}`,
    false,
  );
};
