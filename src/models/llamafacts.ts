import type { FieldFault } from '../kernel/problem.js';
import type { NewModel } from './contract.js';

export interface LlamaFacts {
  /** Maximum context window in tokens. Null if it is unknown. */
  longest: number | null;
  /** Recommended context window for this machine, in tokens. */
  contextWindow: number;
  tools: boolean;
  /** Null if the model creates no embeddings. */
  dimensions: number | null;
}

export type ReadLlamaFacts = (slug: string, signal: AbortSignal) => Promise<LlamaFacts | null>;

export interface LlamaFactsRegistry {
  read: ReadLlamaFacts;
  /** A later module provides the reader. */
  use(read: ReadLlamaFacts): void;
}

export const createLlamaFacts = (): LlamaFactsRegistry => {
  let reader: ReadLlamaFacts = async () => null;
  return {
    read: (slug, signal) => reader(slug, signal),
    use: (read) => {
      reader = read;
    },
  };
};

type FiledFields = Pick<NewModel, 'contextWindow' | 'supports' | 'embedding'>;

export const withFileDefaults = <M extends FiledFields>(given: M, facts: LlamaFacts): M => {
  const { dimensions } = facts;
  const isEmbedding = dimensions !== null && given.supports?.embeddings !== false;
  return {
    ...given,
    contextWindow: given.contextWindow ?? facts.contextWindow,
    supports: {
      tools: facts.tools,
      ...(isEmbedding && { embeddings: true }),
      ...given.supports,
    },
    ...(isEmbedding && given.embedding === undefined && { embedding: { dimensions } }),
  };
};

export const modelFileFaults = (given: FiledFields, { longest }: LlamaFacts): FieldFault[] => {
  if (longest === null || (given.contextWindow ?? 0) <= longest) return [];
  const message = `must be at most ${longest} tokens, the limit of the model file`;
  return [{ path: 'contextWindow', message }];
};
