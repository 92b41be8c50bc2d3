import type { RegisteredModel } from '../models/module.js';
import { LLAMA } from './packages.js';
import { ollamaSlug } from './planollama.js';

/** A model as far as it decides what it uses. */
type UsingModel = Pick<RegisteredModel, 'name' | 'provider' | 'modelId'>;

/** Returns what would miss a capability if it were removed: `models/qwen`. */
export const modelsUsing = (slug: string, models: UsingModel[]): string[] =>
  namesUsing(slug, models).map((name) => `models/${name}`);

/** Returns the names of the models that use a capability. */
export const namesUsing = (slug: string, models: UsingModel[]): string[] =>
  models.filter((model) => usesOf(model).includes(slug)).map(({ name }) => name);

/** Returns the slugs of the capabilities that a model needs. */
const usesOf = ({ provider, modelId }: UsingModel): string[] => {
  if (provider === 'ollama') return ['ollama', ollamaSlug(modelId)];
  return provider === LLAMA ? [LLAMA, modelId] : [];
};
