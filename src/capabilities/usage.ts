import type { RegisteredModel } from '../models/module.js';
import { LLAMA } from './packages.js';
import { ollamaSlug } from './planollama.js';

type UsingModel = Pick<RegisteredModel, 'name' | 'provider' | 'modelId'>;

/** `models/qwen`. */
export const modelsUsing = (slug: string, models: UsingModel[]): string[] =>
  namesUsing(slug, models).map((name) => `models/${name}`);

export const namesUsing = (slug: string, models: UsingModel[]): string[] =>
  models.filter((model) => requiredSlugs(model).includes(slug)).map(({ name }) => name);

const requiredSlugs = ({ provider, modelId }: UsingModel): string[] => {
  if (provider === 'ollama') return ['ollama', ollamaSlug(modelId)];
  return provider === LLAMA ? [LLAMA, modelId] : [];
};
