import type { ModelShape } from '../../providers/gguf/shape.js';
import { readBytes } from './cache.js';
import { layerShare } from './memory.js';

interface SpeedOptions {
  /** In tokens. The cache is assumed to be half full. */
  contextWindow: number;
  gpuLayers: number;
  /** Memory bandwidth per device, in bytes per second; null: not known. */
  bandwidth: { cpu: number | null; gpu: number | null };
}

/** Share of the memory bandwidth that is reached in practice. */
const EFFICIENCY = 0.7;

/** Bandwidth divided by the bytes read per token. null: the bandwidth is not known. */
export const estimateSpeed = (
  model: ModelShape,
  { contextWindow, gpuLayers, bandwidth }: SpeedOptions,
): number | null => {
  const output = model.outputBytes || model.tokenEmbeddingBytes;
  const ofLayers = activeBytes(model) - output + readBytes(model, contextWindow / 2);
  const share = layerShare(model, gpuLayers);
  const outputOnGpu = gpuLayers > model.layers ? output : 0;
  const onGpu = ofLayers * share + outputOnGpu;
  const onCpu = ofLayers * (1 - share) + output - outputOnGpu;
  const seconds = [
    computeReadSeconds(onGpu, bandwidth.gpu),
    computeReadSeconds(onCpu, bandwidth.cpu),
  ];
  const total = seconds.reduce((sum, each) => (sum === null || each === null ? null : sum + each));
  return total === null || total === 0 ? null : 1 / total;
};

interface ReadingGpu {
  vramBytes: number | null;
  isUnified: boolean;
  /** Bytes per second; null: not known. */
  bandwidth: number | null;
}

/**
 * Layers are divided by the memory of each GPU and read one after the other. null: the bandwidth of
 * one GPU is not known.
 */
export const jointBandwidth = (gpus: ReadingGpu[]): number | null => {
  const apart = gpus.filter(({ isUnified, vramBytes }) => !isUnified && vramBytes);
  if (apart.length === 0) return gpus.find(({ isUnified }) => isUnified)?.bandwidth ?? null;
  let [bytes, seconds] = [0, 0];
  for (const { vramBytes, bandwidth } of apart) {
    if (bandwidth === null) return null;
    bytes += vramBytes ?? 0;
    seconds += (vramBytes ?? 0) / bandwidth;
  }
  return bytes / seconds;
};

/**
 * Bytes of weights read per token: only the used experts, and the token embeddings only if they are
 * also the output.
 */
const activeBytes = (model: ModelShape): number => {
  const { weightsBytes, tokenEmbeddingBytes, outputBytes, experts, recurrentBytes } = model;
  const idle = experts?.idleBytes ?? 0;
  return weightsBytes - (outputBytes > 0 ? tokenEmbeddingBytes : 0) - idle + recurrentBytes;
};

const computeReadSeconds = (bytes: number, bandwidth: number | null): number | null => {
  if (bytes === 0) return 0;
  return bandwidth === null ? null : bytes / (bandwidth * EFFICIENCY);
};
