import type { Base } from '../base.js';
import type { Config } from '../config.js';
import type { Resource } from '../kernel/route.js';
import type { KnowledgeAmount } from '../knowledge/module.js';
import { type CliTools, createCliTools } from '../providers/clitools/clitools.js';
import type { Confinement } from '../providers/confine/confinement.js';
import { type LlamaModels, openLlama } from '../providers/llm/llama/llama.js';
import type { Secrets } from '../secrets/module.js';
import type { VaultModule } from '../vault/module.js';
import { clitoolsResource } from './clitools/routes.js';
import { configuredModel, llamaLimits, modelTimeouts } from './configuration.js';
import type { NewModel } from './contract.js';
import { createHealth, type ModelHealths } from './health.js';
import { createLlamaFacts, type LlamaFactsRegistry } from './llamafacts.js';
import { createLlamaMemory, type LlamaMemoryRegistry } from './llamamemory.js';
import { createMissingFileCheck } from './missingfiles.js';
import { embeddingOpener, modelOpener, transcriptionOpener } from './open.js';
import { providersResource } from './providers/routes.js';
import { modelsStore } from './queries.js';
import { registerInstalled } from './registration.js';
import { createRegistry, type Registry } from './registry.js';
import { modelsResource } from './routes.js';

export type { ModelHealth, ModelHealths } from './health.js';
export type { ReadLlamaFacts } from './llamafacts.js';
export { createMissingFileCheck, type FindMissingFile } from './missingfiles.js';
export {
  DEFAULT_FALLBACK,
  EMBEDDINGS,
  type RegisteredModel,
  type Registry,
  TRANSCRIPTION,
} from './registry.js';

export interface ModelsModule {
  registry: Registry;
  health: ModelHealths;
  cliTools: CliTools;
  llama: Pick<LlamaModels, 'unload'>;
  /** Sets how the memory of local models is measured. */
  measureLlama: LlamaMemoryRegistry['use'];
  /** Sets how the files of local models are read. */
  describeLlama: LlamaFactsRegistry['use'];
  register(given: NewModel): Promise<string>;
  /** After the models of an organization were deleted. */
  forget(orgId: string): Promise<void>;
  load(): Promise<void>;
  stop(): Promise<void>;
  resources(): Resource[];
}

export interface ModelsModuleDeps {
  config: Config;
  secrets: Secrets;
  vault: VaultModule;
  confinement: Confinement | null;
  /** Counts the texts that go to the embedding model. */
  amountOfTexts(): Promise<KnowledgeAmount>;
}

export const openModels = (base: Base, deps: ModelsModuleDeps): ModelsModule => {
  const { store, clock, log, http, home } = base;
  const { config, confinement } = deps;
  const { vault } = deps.vault;
  const { sealKey, unsealKey } = deps.secrets.sealers.models;
  const timeouts = modelTimeouts(config);
  const cliTools = createCliTools({ home, path: config.cliPath, confinement, timeouts, clock });
  const memory = createLlamaMemory();
  const facts = createLlamaFacts();
  const llama = openLlama({ home, confinement, timeouts, memory, clock, ...llamaLimits(config) });
  const open = modelOpener({ http, clock, timeouts, cliTools, llama });
  const configured = configuredModel(config);
  const openEmbedding = embeddingOpener(http, llama);
  const openTranscription = transcriptionOpener(http);
  const registry = createRegistry({
    store,
    clock,
    open,
    openEmbedding,
    openTranscription,
    unsealKey,
    vault,
    configured,
  });
  const health = createHealth({ clock, log, lost: createMissingFileCheck(home) });
  const models = modelsStore(store);
  deps.vault.onChange(registry.refresh);
  const service = {
    models,
    registry,
    modelHealth: health,
    openModel: open,
    clock,
    http,
    keys: { seal: sealKey, isOwn: vault.isOwn, newest: vault.newest },
    amountOfTexts: deps.amountOfTexts,
    llamaFacts: facts.read,
  };
  return {
    registry,
    health,
    cliTools,
    llama,
    measureLlama: memory.use,
    describeLlama: facts.use,
    register: (given) => registerInstalled(service, given),
    forget: async (orgId) => {
      const gone = registry.list(orgId).filter((entry) => entry.orgId === orgId);
      await registry.refresh();
      for (const { name } of gone) health.forget(name);
    },
    load: registry.refresh,
    stop: llama.close,
    resources: () => [
      modelsResource(service),
      clitoolsResource({ cliTools }),
      providersResource({ models, http, unsealKey, vault }),
    ],
  };
};
