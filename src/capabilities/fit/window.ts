import type { ModelShape } from '../../providers/gguf/shape.js';
import { fitTo, type MachineMemory } from './machine.js';
import { memoryOf } from './memory.js';

/** Ours: the context window of a model of which nothing else is known, in tokens. */
export const USUAL_WINDOW = 8192;
/** Ours: agents read tools and results, so that a larger window is taken where there is room for it. */
const LARGER_WINDOWS = [32_768, 16_384];
/** Ours: for a larger window a model takes at most this share of the memory that is free. */
const SHARE = 0.5;

/** A model, and the longest context that it was made for, in tokens; null: not known. */
export interface WindowedModel {
  shape: ModelShape;
  longest: number | null;
}

/**
 * Returns the context window with which a model is shown and registered unless another one is asked
 * for: the largest that leaves it where it runs with the usual one, and half of the memory to others.
 */
export const windowFor = (machine: MachineMemory, { shape, longest }: WindowedModel): number => {
  const most = longest ?? USUAL_WINDOW;
  const usual = Math.min(most, USUAL_WINDOW);
  const { runsOn, gpuLayers } = fitTo(machine, shape, usual);
  if (runsOn === 'none') return usual;
  const isRoomy = (contextWindow: number): boolean => {
    const { cpuBytes, totalBytes } = memoryOf(shape, { contextWindow, gpuLayers });
    const taken = machine.gpus.some(({ isUnified }) => isUnified) ? totalBytes : cpuBytes;
    const isThere = fitTo(machine, shape, contextWindow).gpuLayers === gpuLayers;
    return isThere && taken <= SHARE * machine.memory.availableBytes;
  };
  return LARGER_WINDOWS.find((each) => each <= most && isRoomy(each)) ?? usual;
};
