import type { ModelShape } from '../../providers/gguf/shape.js';
import { type MachineMemory, placeModel } from './machine.js';
import { computeModelMemory } from './memory.js';

/** In tokens. Used if nothing else is known about the model. */
export const DEFAULT_WINDOW = 8192;
/** Agents read tools and results, so a larger window is used if it fits. */
const LARGER_WINDOWS = [32_768, 16_384];
/** Maximum share of the free memory for a larger window. */
const SHARE = 0.5;

/** `longest` in tokens; null: not known. */
export interface WindowedModel {
  shape: ModelShape;
  longest: number | null;
}

/**
 * The largest window that runs in the same place as the usual one and leaves half of the free
 * memory.
 */
export const windowFor = (machine: MachineMemory, { shape, longest }: WindowedModel): number => {
  const most = longest ?? DEFAULT_WINDOW;
  const usual = Math.min(most, DEFAULT_WINDOW);
  const { runsOn, gpuLayers } = placeModel(machine, shape, usual);
  if (runsOn === 'none') return usual;
  const isRoomy = (contextWindow: number): boolean => {
    const { cpuBytes, totalBytes } = computeModelMemory(shape, { contextWindow, gpuLayers });
    const taken = machine.gpus.some(({ isUnified }) => isUnified) ? totalBytes : cpuBytes;
    const isThere = placeModel(machine, shape, contextWindow).gpuLayers === gpuLayers;
    return isThere && taken <= SHARE * machine.memory.availableBytes;
  };
  return LARGER_WINDOWS.find((each) => each <= most && isRoomy(each)) ?? usual;
};
