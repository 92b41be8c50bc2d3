import type { ModelShape } from '../../providers/gguf/shape.js';
import { batchTokens, cacheCells, windowCells } from './cache.js';

/** The compute buffer of a device, in bytes. */
interface GraphMemory {
  largest: number;
  /** The embeddings and the masks alone, which the CPU makes for a GPU. */
  inputs: number;
}

const FLOAT_BYTES = 4;
const HALF_BYTES = 2;
/** The results of a recurrent layer: of its input, the convolution, the scan and the gate. */
const RECURRENT_RESULTS = 6;

/**
 * Estimates llama.cpp's compute buffer: its largest step. Intermediate results are 32-bit numbers for
 * each token of a batch, and memory is used anew once a result is used up. Ours, measured with
 * node-llama-cpp 3.22.1: of each step the results that exist at once.
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

/** The tokens that each token of the batch attends to, once for each kind of layers. */
const maskBytes = (model: ModelShape, contextWindow: number, batch: number): number => {
  const { sliding, hasFlashAttention } = model;
  const cells =
    cacheCells(contextWindow) + (sliding ? windowCells(sliding.window, contextWindow) : 0);
  return cells * batch * (hasFlashAttention ? HALF_BYTES : FLOAT_BYTES);
};

interface BatchSizes {
  batch: number;
  /** The bytes of one vector for each token of the batch. */
  vector: number;
}

/** The input, queries, keys, values and the result; without flash attention all scores too. */
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

/** The input, the gate, what it is multiplied with, and the product. */
const feedForwardBytes = (model: ModelShape, batch: number, vector: number): number => {
  const used = model.experts?.used ?? 1;
  const inner = model.feedForwardLength * used * batch * FLOAT_BYTES;
  if (!model.experts) return 3 * inner + 3.5 * vector;
  const gated = 3 * inner + 4 * vector;
  // Each expert has a result, which is then weighted; they take the room of what is used up.
  const results = used * vector;
  if (results <= 2 * inner) return gated;
  return Math.max(gated, results + Math.max(3 * inner, results) + 3 * vector);
};
