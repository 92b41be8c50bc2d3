import type { ModelShape } from '../../providers/gguf/shape.js';
import { batchTokens, cacheCells, windowCells } from './cache.js';

interface GraphMemory {
  largest: number;
  /** Embeddings and masks, which the CPU computes for a GPU. */
  inputs: number;
}

const FLOAT_BYTES = 4;
const HALF_BYTES = 2;
/** Input, convolution, scan and gate. */
const RECURRENT_RESULTS = 6;

/**
 * Estimates the compute buffer of llama.cpp: its largest step. Intermediate results are 32-bit
 * numbers per token of a batch, and memory is reused. Measured with node-llama-cpp 3.22.1.
 */
export const graphBytes = (model: ModelShape, contextWindow: number): GraphMemory => {
  const batch = batchTokens(contextWindow);
  const vector = model.embeddingLength * batch * FLOAT_BYTES;
  const masks = maskBytes(model, contextWindow, batch);
  const steps = [
    masks + attentionBytes(model, contextWindow, { batch, vector }),
    masks + feedForwardBytes(model, batch, vector),
    RECURRENT_RESULTS * model.recurrentLength * batch * FLOAT_BYTES + vector,
    model.vocabularySize * batch * FLOAT_BYTES + 2 * vector,
  ];
  return { largest: Math.max(...steps), inputs: masks + vector };
};

/** Tokens attended to per token of the batch, once per kind of layer. */
const maskBytes = (model: ModelShape, contextWindow: number, batch: number): number => {
  const { sliding, hasFlashAttention } = model;
  const cells =
    cacheCells(contextWindow) + (sliding ? windowCells(sliding.window, contextWindow) : 0);
  return cells * batch * (hasFlashAttention ? HALF_BYTES : FLOAT_BYTES);
};

interface BatchSizes {
  batch: number;
  /** Bytes of one vector per token of the batch. */
  vector: number;
}

/** Input, queries, keys, values and the result; without flash attention also all scores. */
const attentionBytes = (
  model: ModelShape,
  contextWindow: number,
  { batch, vector }: BatchSizes,
): number => {
  const { heads, kvHeads, keyLength, hasFlashAttention } = model;
  const mostKvHeads = typeof kvHeads === 'number' ? kvHeads : Math.max(0, ...kvHeads);
  const queries = heads * keyLength * batch * FLOAT_BYTES;
  const keys = mostKvHeads * keyLength * batch * FLOAT_BYTES;
  const scores = hasFlashAttention ? 0 : cacheCells(contextWindow) * heads * batch * FLOAT_BYTES;
  return 2 * (vector + queries + keys) + scores;
};

/** Input, gate, multiplicand and product. */
const feedForwardBytes = (model: ModelShape, batch: number, vector: number): number => {
  const used = model.experts?.used ?? 1;
  const inner = model.feedForwardLength * used * batch * FLOAT_BYTES;
  if (!model.experts) return 3 * inner + 3.5 * vector;
  const gated = 3 * inner + 4 * vector;
  // Each expert has a result that is then weighted; it reuses memory.
  const results = used * vector;
  if (results <= 2 * inner) return gated;
  return Math.max(gated, results + Math.max(3 * inner, results) + 3 * vector);
};
