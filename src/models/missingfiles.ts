import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DAMAGE_FILE, damageMessage, isSlug } from '../providers/llm/llama/files.js';
import type { RegisteredModel } from './registry.js';

/** Null if the model can be loaded, or is not local. */
export type FindMissingFile = (
  model: Pick<RegisteredModel, 'provider' | 'modelId'>,
) => string | null;

export const createMissingFileCheck =
  (home: string): FindMissingFile =>
  ({ provider, modelId }) => {
    if (provider !== 'llama') return null;
    const names = isSlug(modelId) ? namesIn(join(home, 'capabilities', modelId)) : [];
    if (!names.some((name) => name.endsWith('.gguf')))
      return `The model file is missing: ${modelId}`;
    return names.includes(DAMAGE_FILE) ? damageMessage(modelId) : null;
  };

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
