import { attendsFast, keepsNothing } from '../../providers/gguf/layers.js';
import type { ModelShape } from '../../providers/gguf/shape.js';

/** The shape of a model, from which its memory follows. */
export interface CatalogueShape {
  /** As GGUF names it: `qwen3`. */
  name: string;
  layers: number;
  heads: number;
  kvHeads: number;
  keyLength: number;
  valueLength: number;
  embeddingLength: number;
  feedForwardLength: number;
  vocabulary: number;
  /** All layers but the last of each `every` see only the last `window` tokens; null: all see all. */
  slidingWindow: { window: number; every: number } | null;
}

/** Facts about a model whose file is not there, as a catalogue has them. */
export interface ModelFacts {
  parameters: number;
  /** The parameters that are read for each token; null: all. */
  activeParameters: number | null;
  architecture: CatalogueShape;
}

/** Estimates the shape of a model from its facts and the bytes of its file. */
export const shapeOfFacts = (facts: ModelFacts, fileBytes: number): ModelShape => {
  const { parameters, activeParameters, architecture } = facts;
  const { layers, kvHeads, keyLength, valueLength, slidingWindow } = architecture;
  const embeddings = architecture.vocabulary * architecture.embeddingLength;
  const embeddingBytes = Math.round(embeddings * (fileBytes / parameters));
  const isIdle = activeParameters === null ? 0 : 1 - activeParameters / parameters;
  return {
    weightsBytes: fileBytes,
    tokenEmbeddingBytes: embeddingBytes,
    outputBytes: hasOutput(facts, embeddings) ? embeddingBytes : 0,
    layers,
    embeddingLength: architecture.embeddingLength,
    feedForwardLength: architecture.feedForwardLength,
    vocabularySize: architecture.vocabulary,
    heads: architecture.heads,
    kvHeads: keepsNothing(architecture.name) ? 0 : kvHeads,
    keyLength,
    valueLength,
    hasFlashAttention: attendsFast(architecture.name, keyLength, valueLength),
    sliding: slidingWindow && {
      window: slidingWindow.window,
      layers: Array.from({ length: layers }, (_, at) => isSliding(at, slidingWindow.every)),
      keyLength,
      valueLength,
    },
    // The feed-forward length of such facts is that of all experts that are used together.
    experts: activeParameters === null ? null : { used: 1, idleBytes: fileBytes * isIdle },
    recurrentBytes: 0,
    recurrentLength: 0,
  };
};

const isSliding = (layer: number, every: number): boolean =>
  every === 0 || layer % every < every - 1;

/** True if what the layers do not take has room for two tables of the vocabulary. */
const hasOutput = ({ parameters, activeParameters, architecture }: ModelFacts, table: number) => {
  if (activeParameters !== null) return true;
  const { layers, heads, kvHeads, keyLength, valueLength } = architecture;
  const attention = (heads + kvHeads) * (keyLength + valueLength);
  const ofLayer = architecture.embeddingLength * (attention + 3 * architecture.feedForwardLength);
  return parameters - layers * ofLayer > 1.5 * table;
};
