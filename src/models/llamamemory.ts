import type { LlamaMemory } from '../providers/llm/llama/memory.js';

export interface LlamaMemoryRegistry extends LlamaMemory {
  use(memory: LlamaMemory): void;
}

/**
 * By default, the memory that the system reports within the limit of a container. The file size
 * then stands for the need of a model.
 */
export const createLlamaMemory = (): LlamaMemoryRegistry => {
  let known: LlamaMemory = {
    freeBytes: async () => process.availableMemory(),
    neededBytes: async () => null,
  };
  return {
    freeBytes: () => known.freeBytes(),
    neededBytes: (path, contextWindow) => known.neededBytes(path, contextWindow),
    use: (memory) => {
      known = memory;
    },
  };
};
