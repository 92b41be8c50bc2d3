import type { ModelShape } from '../../providers/gguf/shape.js';

/** Bytes per number. */
const KV_TYPES = { f32: 4, f16: 2, q8_0: 34 / 32, q4_0: 18 / 32 } as const;
export type KvType = keyof typeof KV_TYPES;

/** llama.cpp rounds the tokens of a cache up to a multiple of this. */
const CELLS = 256;
/** Default of node-llama-cpp. */
const BATCH = 512;

interface CacheOptions {
  contextWindow: number;
  kvType?: KvType;
}

export const cacheCells = (contextWindow: number): number =>
  Math.ceil(contextWindow / CELLS) * CELLS;

export const batchTokens = (contextWindow: number): number => Math.min(contextWindow, BATCH);

/** The window plus one batch. */
export const windowCells = (window: number, contextWindow: number): number =>
  // node-llama-cpp makes the batch of such models larger by one.
  cacheCells(Math.min(cacheCells(contextWindow), window + batchTokens(contextWindow) + 1));

export const cacheBytes = (model: ModelShape, options: CacheOptions): number => {
  const bytes = KV_TYPES[options.kvType ?? 'f16'];
  return tokensInCache(model, options.contextWindow) * bytes;
};

/** Layers with a sliding window read only the window. */
export const readBytes = (model: ModelShape, tokens: number, kvType: KvType = 'f16'): number =>
  numbersIn(model, (window) => (window === null ? tokens : Math.min(tokens, window))) *
  KV_TYPES[kvType];

const tokensInCache = (model: ModelShape, contextWindow: number): number =>
  numbersIn(model, (window) =>
    window === null ? cacheCells(contextWindow) : windowCells(window, contextWindow),
  );

const numbersIn = (model: ModelShape, tokensOf: (window: number | null) => number): number => {
  const { layers, kvHeads, sliding } = model;
  let numbers = 0;
  for (let layer = 0; layer < layers; layer++) {
    const heads = typeof kvHeads === 'number' ? kvHeads : (kvHeads[layer] ?? 0);
    const isSliding = sliding?.layers[layer] === true;
    const { keyLength, valueLength } = isSliding ? sliding : model;
    numbers += heads * (keyLength + valueLength) * tokensOf(isSliding ? sliding.window : null);
  }
  return numbers;
};
