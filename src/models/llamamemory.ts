import type { LlamaMemory } from '../providers/llm/llama/memory.js';

/** The memory of models that run here, of which a later module may know more. */
export interface LlamaMemoryBoard extends LlamaMemory {
  /** Registers what knows it. */
  use(memory: LlamaMemory): void;
}

/**
 * Creates the memory as it is known by itself: what the system has available, within the limit of a
 * container; and no need of a model, so that the bytes of its files count.
 */
export const createLlamaMemory = (): LlamaMemoryBoard => {
  let known: LlamaMemory = {
    freeBytes: async () => process.availableMemory(),
    neededBytes: async () => null,
  };
  return {
    freeBytes: () => known.freeBytes(),
    neededBytes: (slug, contextWindow) => known.neededBytes(slug, contextWindow),
    use: (memory) => {
      known = memory;
    },
  };
};
