import type { ModelShape } from '../../providers/gguf/shape.js';
import { cacheBytes, type KvType } from './cache.js';
import { graphBytes } from './graph.js';

/** The way in which a model is run. */
export interface RunOptions {
  /** In tokens. */
  contextWindow: number;
  /** The layers on the GPU, from the last; one more than the model has: its output too. Default 0. */
  gpuLayers?: number;
  /** The type of the numbers in the KV cache; default f16. */
  kvType?: KvType;
}

/** The memory that llama.cpp allocates for a model, in bytes. */
export interface ModelMemory {
  /** All weights; those of which the GPU needs a second copy twice. Mapped files count whole. */
  weightsBytes: number;
  /** Keys, values and the states of recurrent layers. */
  kvCacheBytes: number;
  /** Intermediate results, on each device, and the logits. */
  bufferBytes: number;
  totalBytes: number;
  /** The parts of the total in the memory of the GPU and of the machine. */
  gpuBytes: number;
  cpuBytes: number;
}

const FLOAT_BYTES = 4;
/** Ours: what a file claims that is more is taken as this, so that sums are exact: 1 PiB. */
const MAX_BYTES = 2 ** 50;

/** Estimates the memory of a model. Without GPU layers all of it is in the memory of the machine. */
export const memoryOf = (model: ModelShape, options: RunOptions): ModelMemory => {
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

/** Returns the share of the layers that is on the GPU. */
export const layerShare = ({ layers }: ModelShape, gpuLayers: number): number =>
  Math.min(gpuLayers, layers) / layers;

const bounded = (bytes: number): number => Math.min(Math.ceil(bytes), MAX_BYTES);

/** All but the token embeddings may be there; where they are the output too, a copy of them. */
const weightsOnGpu = (model: ModelShape, gpuLayers: number): number => {
  const { weightsBytes, tokenEmbeddingBytes, outputBytes } = model;
  const ofLayers = weightsBytes - tokenEmbeddingBytes - outputBytes;
  const output = gpuLayers > model.layers ? outputBytes || tokenEmbeddingBytes : 0;
  return ofLayers * layerShare(model, gpuLayers) + output;
};
