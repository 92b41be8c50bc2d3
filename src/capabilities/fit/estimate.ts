import { hasNoCache, usesFlashAttention } from '../../providers/gguf/layers.js';
import type { ModelShape } from '../../providers/gguf/shape.js';

export interface CatalogueShape {
  /** Name in GGUF: `qwen3`. */
  name: string;
  layers: number;
  heads: number;
  kvHeads: number;
  keyLength: number;
  valueLength: number;
  embeddingLength: number;
  feedForwardLength: number;
  vocabulary: number;
  /**
   * All layers but the last of every `every` see only the last `window` tokens. null: all see
   * everything.
   */
  slidingWindow: { window: number; every: number } | null;
}

export interface ModelFacts {
  parameters: number;
  /** Parameters read per token; null: all. */
  activeParameters: number | null;
  architecture: CatalogueShape;
}

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
    kvHeads: hasNoCache(architecture.name) ? 0 : kvHeads,
    keyLength,
    valueLength,
    hasFlashAttention: usesFlashAttention(architecture.name, keyLength, valueLength),
    sliding: slidingWindow && {
      window: slidingWindow.window,
      layers: Array.from({ length: layers }, (_, at) => isSliding(at, slidingWindow.every)),
      keyLength,
      valueLength,
    },
    // The stated feed-forward length is that of all used experts together.
    experts: activeParameters === null ? null : { used: 1, idleBytes: fileBytes * isIdle },
    recurrentBytes: 0,
    recurrentLength: 0,
  };
};

const isSliding = (layer: number, every: number): boolean =>
  every === 0 || layer % every < every - 1;

/** True if the parameters outside the layers suffice for two vocabulary tables. */
const hasOutput = ({ parameters, activeParameters, architecture }: ModelFacts, table: number) => {
  if (activeParameters !== null) return true;
  const { layers, heads, kvHeads, keyLength, valueLength } = architecture;
  const attention = (heads + kvHeads) * (keyLength + valueLength);
  const ofLayer = architecture.embeddingLength * (attention + 3 * architecture.feedForwardLength);
  return parameters - layers * ofLayer > 1.5 * table;
};
