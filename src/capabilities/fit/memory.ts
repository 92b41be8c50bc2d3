import type { ModelShape } from '../../providers/gguf/shape.js';
import { cacheBytes, type KvType } from './cache.js';
import { graphBytes } from './graph.js';

export interface RunOptions {
  /** In tokens. */
  contextWindow: number;
  /** Layers on the GPU, from the last. One more than the model has: the output too. Default 0. */
  gpuLayers?: number;
  /** Default f16. */
  kvType?: KvType;
}

/** Bytes that llama.cpp allocates. */
export interface ModelMemory {
  /** Weights copied to the GPU count twice. Mapped files count fully. */
  weightsBytes: number;
  /** Keys, values and the states of recurrent layers. */
  kvCacheBytes: number;
  /** Intermediate results per device, and the logits. */
  bufferBytes: number;
  totalBytes: number;
  /** Parts of the total in GPU memory and main memory. */
  gpuBytes: number;
  cpuBytes: number;
}

const FLOAT_BYTES = 4;
/** Larger declared sizes are capped at 1 PiB, so that sums stay exact. */
const MAX_BYTES = 2 ** 50;

export const computeModelMemory = (model: ModelShape, options: RunOptions): ModelMemory => {
  const gpuLayers = Math.min(options.gpuLayers ?? 0, model.layers + 1);
  const isWhole = gpuLayers > model.layers;
  const onGpu = weightsOnGpu(model, gpuLayers);
  const isCopied = isWhole && model.outputBytes === 0;
  const weightsBytes = model.weightsBytes + (isCopied ? model.tokenEmbeddingBytes : 0);
  const kvCacheBytes = bounded(cacheBytes(model, options) + model.recurrentBytes);
  const kvOnGpu = kvCacheBytes * layerShare(model, gpuLayers);
  const graph = graphBytes(model, options.contextWindow);
  const logits = model.vocabularySize * FLOAT_BYTES;
  const bufferOnGpu = gpuLayers > 0 ? bounded(graph.largest) : 0;
  const bufferOnCpu = bounded(logits + (isWhole ? graph.inputs : graph.largest));
  const gpuBytes = Math.round(onGpu + kvOnGpu + bufferOnGpu);
  const bufferBytes = bufferOnGpu + bufferOnCpu;
  const totalBytes = weightsBytes + kvCacheBytes + bufferBytes;
  const cpuBytes = totalBytes - gpuBytes;
  return { weightsBytes, kvCacheBytes, bufferBytes, totalBytes, gpuBytes, cpuBytes };
};

export const layerShare = ({ layers }: ModelShape, gpuLayers: number): number =>
  Math.min(gpuLayers, layers) / layers;

const bounded = (bytes: number): number => Math.min(Math.ceil(bytes), MAX_BYTES);

/** All but the token embeddings can be on the GPU. If they are also the output, a copy of them. */
const weightsOnGpu = (model: ModelShape, gpuLayers: number): number => {
  const { weightsBytes, tokenEmbeddingBytes, outputBytes } = model;
  const ofLayers = weightsBytes - tokenEmbeddingBytes - outputBytes;
  const output = gpuLayers > model.layers ? outputBytes || tokenEmbeddingBytes : 0;
  return ofLayers * layerShare(model, gpuLayers) + output;
};
