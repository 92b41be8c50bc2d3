import type { FieldFault } from '../kernel/problem.js';
import type { NewModel } from './contract.js';

/** Facts about a model that runs here, by the header of its file. */
export interface LlamaFacts {
  /** The longest context that it was made for, in tokens; null: not known. */
  longest: number | null;
  /** The context window that suits this machine, in tokens. */
  contextWindow: number;
  tools: boolean;
  /** The length of its vectors; null: it answers. */
  dimensions: number | null;
}

/** Reads the facts of an installed model; null if it is not installed or its header cannot be read. */
export type ReadLlamaFacts = (slug: string, signal: AbortSignal) => Promise<LlamaFacts | null>;

/** The facts of models that run here, which a later module reads. */
export interface LlamaFactsBoard {
  read: ReadLlamaFacts;
  /** Registers what reads them. */
  use(read: ReadLlamaFacts): void;
}

export const createLlamaFacts = (): LlamaFactsBoard => {
  let reader: ReadLlamaFacts = async () => null;
  return {
    read: (slug, signal) => reader(slug, signal),
    use: (read) => {
      reader = read;
    },
  };
};

/** The fields of a model that its file knows. */
type FiledFields = Pick<NewModel, 'contextWindow' | 'supports' | 'embedding'>;

/** Fills in what a model leaves out, from the facts of its file. */
export const filledByFile = <M extends FiledFields>(given: M, facts: LlamaFacts): M => {
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

/** Lists the faults of what is given for a model whose file says something else. */
export const faultsByFile = (given: FiledFields, { longest }: LlamaFacts): FieldFault[] => {
  if (longest === null || (given.contextWindow ?? 0) <= longest) return [];
  const message = `must be at most ${longest} tokens, the limit of the model file`;
  return [{ path: 'contextWindow', message }];
};
