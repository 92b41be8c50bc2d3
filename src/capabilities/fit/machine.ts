import { sizeText } from '../../kernel/sizetext.js';
import type { ModelShape } from '../../providers/gguf/shape.js';
import { computeModelMemory } from './memory.js';

export interface MachineMemory {
  memory: { totalBytes: number; availableBytes: number };
  gpus: {
    /** null: not known, and not used. */
    vramBytes: number | null;
    /** True if it shares the memory of the machine. */
    isUnified: boolean;
  }[];
}

export interface MachineFit {
  runsOn: 'gpu' | 'cpu' | 'split' | 'none';
  /** Smallest remaining budget in bytes. Negative if memory is missing. */
  headroomBytes: number;
  /** One more than the model has: the output too. */
  gpuLayers: number;
  why: string;
}

/** Shares of the GPU memory and of the free memory that a model may use. */
const GPU_SHARE = 0.85;
const CPU_SHARE = 0.8;

interface Budgets {
  gpu: number;
  cpu: number;
  /** True if the GPU shares the memory, which is then counted once. */
  isUnified: boolean;
  /** Each GPU needs its own compute buffer. */
  gpus: number;
}

export const placeModel = (
  machine: MachineMemory,
  model: ModelShape,
  contextWindow: number,
): MachineFit => {
  const budgets = computeBudgets(machine);
  for (let gpuLayers = budgets.gpu > 0 ? model.layers + 1 : 0; gpuLayers >= 0; gpuLayers--) {
    if (budgets.isUnified && gpuLayers > 0 && gpuLayers <= model.layers) continue;
    const need = computePlacedNeed(model, { contextWindow, gpuLayers }, budgets);
    const left = computeHeadroom(need, budgets);
    if (left >= 0) return buildMachineFit(model, { gpuLayers, left, need, budgets });
  }
  return misfit(computeModelMemory(model, { contextWindow }).totalBytes, budgets);
};

const computeBudgets = ({ memory, gpus }: MachineMemory): Budgets => {
  const cpu = memory.availableBytes * CPU_SHARE;
  const apart = gpus.filter(({ isUnified, vramBytes }) => !isUnified && vramBytes !== null);
  const gpu = apart.reduce((sum, { vramBytes }) => sum + (vramBytes ?? 0) * GPU_SHARE, 0);
  if (gpu > 0) return { gpu, cpu, isUnified: false, gpus: apart.length };
  const unified = gpus.find(({ isUnified }) => isUnified);
  if (!unified) return { gpu: 0, cpu, isUnified: false, gpus: 0 };
  const limit = (unified.vramBytes ?? memory.totalBytes) * GPU_SHARE;
  return { gpu: Math.min(limit, cpu), cpu, isUnified: true, gpus: 1 };
};

interface PlacedNeed {
  gpu: number;
  cpu: number;
}

const computePlacedNeed = (
  model: ModelShape,
  options: { contextWindow: number; gpuLayers: number },
  budgets: Budgets,
): PlacedNeed => {
  const { gpuBytes, cpuBytes, bufferBytes } = computeModelMemory(model, options);
  if (options.gpuLayers === 0) return { gpu: 0, cpu: cpuBytes };
  if (budgets.isUnified) return { gpu: gpuBytes + cpuBytes, cpu: 0 };
  // Each further GPU has its own compute buffer.
  return { gpu: gpuBytes + (budgets.gpus - 1) * bufferBytes, cpu: cpuBytes };
};

const computeHeadroom = (need: PlacedNeed, { gpu, cpu }: Budgets): number => {
  if (need.gpu === 0) return Math.floor(cpu - need.cpu);
  return Math.floor(Math.min(gpu - need.gpu, cpu - need.cpu));
};

interface Placement {
  gpuLayers: number;
  left: number;
  need: PlacedNeed;
  budgets: Budgets;
}

const buildMachineFit = (
  model: ModelShape,
  { gpuLayers, left, need, budgets }: Placement,
): MachineFit => {
  const shared = { headroomBytes: left, gpuLayers };
  const inMemory = `${sizeText(need.cpu)} of the ${sizeText(budgets.cpu)} of memory`;
  const onGpu = `${sizeText(need.gpu)} of the ${sizeText(budgets.gpu)} that a model may use`;
  if (gpuLayers === 0) {
    return { ...shared, runsOn: 'cpu', why: `The model needs ${inMemory} that a model may use.` };
  }
  if (gpuLayers > model.layers) {
    const place = budgets.isUnified ? 'of the memory shared with the GPU' : 'on the GPU';
    return { ...shared, runsOn: 'gpu', why: `The model needs ${onGpu} ${place}.` };
  }
  const layers = `${gpuLayers} of ${model.layers} layers`;
  const why = `With ${layers} on the GPU, the model needs ${onGpu} there, and ${inMemory}.`;
  return { ...shared, runsOn: 'split', why };
};

const misfit = (totalBytes: number, { gpu, cpu, isUnified }: Budgets): MachineFit => {
  const isApart = gpu > 0 && !isUnified;
  const beside = isApart ? ` and ${sizeText(gpu)} on the GPU` : '';
  return {
    runsOn: 'none',
    headroomBytes: Math.floor((isApart ? gpu + cpu : cpu) - totalBytes),
    gpuLayers: 0,
    why: `The model needs ${sizeText(totalBytes)}. A model may use ${sizeText(cpu)} of memory${beside}.`,
  };
};
