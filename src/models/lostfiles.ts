import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DAMAGE_NOTE, damageSentence, isSlug } from '../providers/llm/llama/files.js';
import type { RegisteredModel } from './registry.js';

/** Null if the model can be loaded, or is not local. */
export type LostFiles = (model: Pick<RegisteredModel, 'provider' | 'modelId'>) => string | null;

export const createLostFiles =
  (home: string): LostFiles =>
  ({ provider, modelId }) => {
    if (provider !== 'llama') return null;
    const names = isSlug(modelId) ? namesIn(join(home, 'capabilities', modelId)) : [];
    if (!names.some((name) => name.endsWith('.gguf')))
      return `The model file is missing: ${modelId}`;
    return names.includes(DAMAGE_NOTE) ? damageSentence(modelId) : null;
  };

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};
