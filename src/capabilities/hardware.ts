import type { ModelShape } from '../providers/gguf/shape.js';
import { bandwidthOfGpu } from '../providers/hardware/gpubandwidth.js';
import type { Gpu, Machine } from '../providers/hardware/machine.js';
import type { FittedModel } from './candidates.js';
import type { ChosenCatalogue, UseCase } from './catalogue.js';
import type { Hardware, ModelFit } from './contract.js';
import { type MachineMemory, placeModel } from './fit/machine.js';
import { computeModelMemory } from './fit/memory.js';
import { recommend } from './fit/recommend.js';
import { estimateSpeed, jointBandwidth } from './fit/tokenrate.js';
import { DEFAULT_WINDOW, windowFor } from './fit/window.js';
import type { LlamaGpuUse } from './llamagpu.js';
import { type Speeds, type SpeedUnit, speedKey } from './measure.js';

interface HardwareDeps {
  machine(): Promise<Machine>;
  /** Bytes per second; null: not known. */
  bandwidth(): Promise<number | null>;
  catalogue(): Promise<ChosenCatalogue>;
  models(): Promise<FittedModel[]>;
  speeds: Pick<Speeds, 'read'>;
  llama(machine: Machine): LlamaGpuUse;
}

interface HardwareQuestion {
  contextWindow?: number | undefined;
  useCase?: UseCase | undefined;
}

const USE_CASES: UseCase[] = ['chat', 'tools', 'code', 'embedding', 'speech'];

export const createHardwareReport = (deps: HardwareDeps) => {
  return async ({ contextWindow, useCase }: HardwareQuestion): Promise<Hardware> => {
    const [machine, bandwidth, { catalogue, source, fault }, models, measured] = await Promise.all([
      deps.machine(),
      deps.bandwidth(),
      deps.catalogue(),
      deps.models(),
      deps.speeds.read(),
    ]);
    const llama = deps.llama(machine);
    const requested = { contextWindow: contextWindow ?? null, measured };
    const ofLlama = { ...requested, ...placesOn(machine, llama.gpus, bandwidth) };
    const ofOthers = { ...requested, ...placesOn(machine, machine.gpus, bandwidth) };
    const rows = models.map((model) => buildModelFit(model, model.isForLlama ? ofLlama : ofOthers));
    const fit = withChoices(rows, useCase ?? 'chat', contextWindow ?? DEFAULT_WINDOW);
    return {
      platform: machine.platform,
      cpu: machine.cpu,
      memory: {
        ...machine.memory,
        bytesPerSecond: bandwidth === null ? null : Math.round(bandwidth),
      },
      gpus: machine.gpus.map(({ vendor, name, vramBytes, driver }) => ({
        vendor,
        name,
        vramBytes,
        driver,
      })),
      gpuNote: llama.note,
      disk: machine.disk,
      sources: machine.sources,
      catalogue: { date: catalogue.date, source, fault },
      fit: useCase === undefined ? fit : fit.filter(({ useCases }) => useCases.includes(useCase)),
    };
  };
};

export type HardwareReport = ReturnType<typeof createHardwareReport>;

const placesOn = (machine: Machine, gpus: readonly Gpu[], cpu: number | null) => ({
  machine: memoryOn(machine, gpus),
  bandwidth: {
    cpu,
    gpu: jointBandwidth(gpus.map((each) => ({ ...each, bandwidth: bandwidthOfGpu(each.name) }))),
  },
});

/** An unknown amount counts as none. */
export const memoryOn = ({ memory }: Machine, gpus: readonly Gpu[]): MachineMemory => ({
  memory: {
    totalBytes: memory.totalBytes ?? 0,
    availableBytes: memory.availableBytes ?? memory.totalBytes ?? 0,
  },
  gpus: [...gpus],
});

interface FitConditions {
  machine: MachineMemory;
  bandwidth: { cpu: number | null; gpu: number | null };
  /** In tokens; null: the default for registration. */
  contextWindow: number | null;
  measured: Awaited<ReturnType<Speeds['read']>>;
}

const buildModelFit = (model: FittedModel, conditions: FitConditions): ModelFit => {
  const { contextWindow: longest } = model;
  const shape = model.shape ?? sizeOnlyShape(model.bytes, model.workingBytes);
  // Embeddings are computed of single texts.
  const most = isForVectors(model.useCases)
    ? Math.min(longest ?? DEFAULT_WINDOW, DEFAULT_WINDOW)
    : longest;
  const requested = conditions.contextWindow;
  const contextWindow =
    requested === null
      ? windowFor(conditions.machine, { shape, longest: most })
      : Math.min(requested, longest ?? requested);
  return {
    model: model.id,
    name: model.name,
    useCases: model.useCases,
    parameters: model.parameters,
    quantization: model.quantization,
    contextWindow,
    licence: model.licence,
    installed: model.isInstalled,
    reason: model.reason,
    recommended: false,
    recommendedFor: [],
    ...fitOn(model, conditions, contextWindow),
  };
};

/** In tokens. A speed applies to a conversation that fills half of this window. */
const FILLED_WINDOW = 2048;

const fitOn = (
  model: FittedModel,
  { machine, bandwidth, measured }: FitConditions,
  contextWindow: number,
) => {
  const shape = model.shape ?? sizeOnlyShape(model.bytes, model.workingBytes);
  const { runsOn, headroomBytes, gpuLayers, why } = placeModel(machine, shape, contextWindow);
  const memory = computeModelMemory(shape, { contextWindow, gpuLayers });
  const unit = unitFor(model.useCases);
  const isEstimated = runsOn !== 'none' && model.shape !== null && unit === 'written';
  const filled = Math.min(contextWindow, FILLED_WINDOW);
  const conditions = { contextWindow: filled, gpuLayers, bandwidth };
  const estimated = isEstimated ? estimateSpeed(shape, conditions) : null;
  const speed = model.speedKeys
    .map((key) => measured[speedKey(key, unit)])
    .find((each) => each !== undefined);
  return {
    weightsBytes: memory.weightsBytes,
    kvCacheBytes: model.shape ? Math.round(memory.kvCacheBytes) : null,
    bufferBytes: model.shape ? Math.round(memory.bufferBytes) : null,
    totalBytes: Math.round(memory.totalBytes),
    runsOn,
    headroomBytes,
    tokensPerSecond: {
      unit,
      estimated: estimated === null ? null : Number(estimated.toPrecision(3)),
      measured: speed ? { median: speed.median, spread: speed.spread } : null,
    },
    why: model.reason ?? [model.fault, why].filter((each) => each !== null).join('. '),
  };
};

/**
 * An embedding model writes no tokens. Its reading speed does not follow from the memory bandwidth.
 */
const unitFor = (useCases: UseCase[]): SpeedUnit => (isForVectors(useCases) ? 'read' : 'written');

const isForVectors = (useCases: UseCase[]): boolean =>
  useCases.length > 0 && useCases.every((useCase) => useCase === 'embedding');

/**
 * A model of which only the size is known, such as a speech model, plus the memory of its engine.
 */
export const sizeOnlyShape = (bytes: number, workingBytes = 0): ModelShape => ({
  weightsBytes: bytes,
  tokenEmbeddingBytes: 0,
  outputBytes: 0,
  layers: 1,
  embeddingLength: 0,
  feedForwardLength: 0,
  vocabularySize: 0,
  heads: 0,
  kvHeads: 0,
  keyLength: 0,
  valueLength: 0,
  sliding: null,
  experts: null,
  recurrentBytes: workingBytes,
  recurrentLength: 0,
  hasFlashAttention: true,
});

const withChoices = (rows: ModelFit[], requested: UseCase, wanted: number): ModelFit[] => {
  const candidates = rows.map((row) => ({ ...row, parameters: row.parameters ?? 0 }));
  const choices = USE_CASES.map((useCase) => ({
    useCase,
    ...recommend(candidatesFor(candidates, { useCase, wanted }), useCase),
  }));
  return rows.map((row) => {
    const own = choices.filter(({ model }) => model === row.model);
    const recommendedFor = own.map(({ useCase }) => useCase);
    const reasons = own.filter(({ useCase }) => useCase === requested || own.length === 1);
    return {
      ...row,
      recommendedFor,
      recommended: recommendedFor.includes(requested),
      why: [...reasons.map(({ why }) => why), row.why].join(' '),
    };
  });
};

/**
 * Agents need tools and room for their results: models without tools, or with a shorter context
 * than requested, are only used if nothing else fits.
 */
const candidatesFor = <
  T extends Pick<ModelFit, 'useCases' | 'runsOn' | 'reason' | 'contextWindow'>,
>(
  all: T[],
  { useCase, wanted }: { useCase: UseCase; wanted: number },
): T[] => {
  const had = all.filter(({ reason }) => reason === null);
  if (['embedding', 'speech'].includes(useCase)) return had;
  const isFit = ({ useCases, runsOn }: T): boolean =>
    runsOn !== 'none' && useCases.includes(useCase);
  const wide = had.filter((row) => row.contextWindow >= wanted);
  const rows = wide.some(isFit) ? wide : had;
  if (useCase !== 'chat') return rows;
  const able = rows.filter(({ useCases }) => useCases.includes('tools'));
  return able.some(isFit) ? able : rows;
};
