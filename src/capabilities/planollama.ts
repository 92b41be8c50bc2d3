import type { CatalogueModel } from './catalogue.js';
import type { InstallPlan, PlanRefusal } from './installplan.js';

/** `qwen3:4b`, `hf.co/owner/model:Q4_K_M`. */
const OLLAMA_MODEL = /^[a-z0-9][A-Za-z0-9._/-]{0,150}(:[A-Za-z0-9._-]{1,80})?$/;

export const planOllama = (models: CatalogueModel[], name: string): InstallPlan | PlanRefusal => {
  if (!OLLAMA_MODEL.test(name)) return { field: 'id', fault: 'is not a valid Ollama model name' };
  const known = models.find(({ ollama }) => ollama === name);
  return {
    via: 'ollama',
    id: `ollama:${name}`,
    slug: ollamaSlug(name),
    kind: 'model',
    name,
    version: null,
    bytes: known?.files[0]?.bytes ?? null,
    licence: known?.licence ?? null,
    source: 'Ollama library',
    useCases: known?.useCases ?? [],
    needs: ['ollama'],
    model: name,
    contextWindow: known?.contextWindow ?? null,
  };
};

/** `ollama-qwen3-4b`. Omits the default tag. Two models can have the same slug. */
export const ollamaSlug = (model: string): string =>
  `ollama-${model
    .replace(/:latest$/, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')}`.slice(0, 100);
