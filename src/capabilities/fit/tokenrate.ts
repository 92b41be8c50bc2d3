import type { ModelShape } from '../../providers/gguf/shape.js';
import { readBytes } from './cache.js';
import { layerShare } from './memory.js';

interface SpeedOptions {
  /** In tokens. The cache is read as if half of it were filled. */
  contextWindow: number;
  /** As in RunOptions. */
  gpuLayers: number;
  /** The bytes that each device reads of its memory in a second; null: not known. */
  bandwidth: { cpu: number | null; gpu: number | null };
}

/** Ours: the share of a memory's bandwidth that is reached. */
const EFFICIENCY = 0.7;

/**
 * Estimates the tokens per second of a reply: what is read of memory for one token, by the bandwidth
 * of where it is. null: the bandwidth of a device that is used is not known.
 */
export const speedOf = (
  model: ModelShape,
  { contextWindow, gpuLayers, bandwidth }: SpeedOptions,
): number | null => {
  const output = model.outputBytes || model.tokenEmbeddingBytes;
  const ofLayers = activeBytes(model) - output + readBytes(model, contextWindow / 2);
  const share = layerShare(model, gpuLayers);
  const outputOnGpu = gpuLayers > model.layers ? output : 0;
  const onGpu = ofLayers * share + outputOnGpu;
  const onCpu = ofLayers * (1 - share) + output - outputOnGpu;
  const seconds = [secondsOf(onGpu, bandwidth.gpu), secondsOf(onCpu, bandwidth.cpu)];
  const total = seconds.reduce((sum, each) => (sum === null || each === null ? null : sum + each));
  return total === null || total === 0 ? null : 1 / total;
};

/** The part of a GPU that decides how fast it reads the layers that are on it. */
interface ReadingGpu {
  vramBytes: number | null;
  isUnified: boolean;
  /** Bytes a second; null: not known. */
  bandwidth: number | null;
}

/**
 * Returns the bytes a second that the GPUs read which models are put on. Layers are divided by the
 * memory of each, and are read one after the other. null: the bandwidth of one is not known.
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
 * Returns the bytes of weights that are read for one token: of the experts those that are used, and
 * of the token embeddings one row, which does not count, unless they are the output too.
 */
const activeBytes = (model: ModelShape): number => {
  const { weightsBytes, tokenEmbeddingBytes, outputBytes, experts, recurrentBytes } = model;
  const idle = experts?.idleBytes ?? 0;
  return weightsBytes - (outputBytes > 0 ? tokenEmbeddingBytes : 0) - idle + recurrentBytes;
};

const secondsOf = (bytes: number, bandwidth: number | null): number | null => {
  if (bytes === 0) return 0;
  return bandwidth === null ? null : bytes / (bandwidth * EFFICIENCY);
};
