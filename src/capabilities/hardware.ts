import type { ModelShape } from '../providers/gguf/shape.js';
import type { Machine } from '../providers/hardware/machine.js';
import type { FittedModel } from './candidates.js';
import type { ChosenCatalogue, UseCase } from './catalogue.js';
import type { Hardware, ModelFit } from './contract.js';
import { fitTo, type MachineMemory } from './fit/machine.js';
import { memoryOf } from './fit/memory.js';
import { recommend } from './fit/recommend.js';
import { speedOf } from './fit/tokenrate.js';
import type { Speeds } from './measure.js';

interface HardwareDeps {
  machine(): Promise<Machine>;
  /** Bytes of memory that the processors read in a second; null: not known. */
  bandwidth(): Promise<number | null>;
  catalogue(): Promise<ChosenCatalogue>;
  /** The models of the catalogue and those that are installed. */
  models(): Promise<FittedModel[]>;
  speeds: Pick<Speeds, 'read'>;
}

interface HardwareQuestion {
  contextWindow?: number | undefined;
  useCase?: UseCase | undefined;
}

/** Ours: the context window that is asked for unless the question says, in tokens. */
const USUAL_WINDOW = 8192;
const USE_CASES: UseCase[] = ['chat', 'tools', 'code', 'embedding', 'speech'];

/** Creates what describes the machine, and where each model would run on it. */
export const createHardwareReport = (deps: HardwareDeps) => {
  return async ({ contextWindow, useCase }: HardwareQuestion): Promise<Hardware> => {
    const [machine, bandwidth, { catalogue, source, fault }, models, measured] = await Promise.all([
      deps.machine(),
      deps.bandwidth(),
      deps.catalogue(),
      deps.models(),
      deps.speeds.read(),
    ]);
    const on = { machine: memoryOn(machine), bandwidth: { cpu: bandwidth, gpu: null } };
    const rows = models.map((model) =>
      rowOf(model, { ...on, contextWindow: contextWindow ?? USUAL_WINDOW, measured }),
    );
    const fit = withChoices(rows, useCase);
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
      disk: machine.disk,
      sources: machine.sources,
      catalogue: { date: catalogue.date, source, fault },
      fit: useCase === undefined ? fit : fit.filter(({ useCases }) => useCases.includes(useCase)),
    };
  };
};

export type HardwareReport = ReturnType<typeof createHardwareReport>;

/** Returns the memory for models. An unknown amount counts as none, so that nothing is promised. */
const memoryOn = ({ memory, gpus }: Machine): MachineMemory => ({
  memory: {
    totalBytes: memory.totalBytes ?? 0,
    availableBytes: memory.availableBytes ?? memory.totalBytes ?? 0,
  },
  gpus,
});

interface FitConditions {
  machine: MachineMemory;
  bandwidth: { cpu: number | null; gpu: number | null };
  contextWindow: number;
  measured: Awaited<ReturnType<Speeds['read']>>;
}

const rowOf = (model: FittedModel, conditions: FitConditions): ModelFit => {
  const contextWindow = Math.min(
    conditions.contextWindow,
    model.contextWindow ?? Number.POSITIVE_INFINITY,
  );
  return {
    model: model.id,
    name: model.name,
    useCases: model.useCases,
    parameters: model.parameters,
    quantization: model.quantization,
    contextWindow,
    licence: model.licence,
    installed: model.isInstalled,
    recommended: false,
    recommendedFor: [],
    ...fitOn(model, conditions, contextWindow),
  };
};

/** Ours: a speed is that of a conversation that fills half of such a window, in tokens. */
const FILLED_WINDOW = 2048;

/** Finds where a model runs, in which memory, and how fast. */
const fitOn = (
  model: FittedModel,
  { machine, bandwidth, measured }: FitConditions,
  contextWindow: number,
) => {
  const shape = model.shape ?? shapeless(model.bytes);
  const { runsOn, headroomBytes, gpuLayers, why } = fitTo(machine, shape, contextWindow);
  const memory = memoryOf(shape, { contextWindow, gpuLayers });
  const isEstimated = runsOn !== 'none' && model.shape !== null;
  const filled = Math.min(contextWindow, FILLED_WINDOW);
  const conditions = { contextWindow: filled, gpuLayers, bandwidth };
  const estimated = isEstimated ? speedOf(shape, conditions) : null;
  const speed = model.speedKeys.map((key) => measured[key]).find((each) => each !== undefined);
  return {
    weightsBytes: memory.weightsBytes,
    kvCacheBytes: model.shape ? Math.round(memory.kvCacheBytes) : null,
    bufferBytes: model.shape ? Math.round(memory.bufferBytes) : null,
    totalBytes: Math.round(memory.totalBytes),
    runsOn,
    headroomBytes,
    tokensPerSecond: {
      estimated: estimated === null ? null : Number(estimated.toPrecision(3)),
      measured: speed ? { median: speed.median, spread: speed.spread } : null,
    },
    why: model.fault ?? why,
  };
};

/** A model of which the size alone is known, such as one for speech. */
const shapeless = (bytes: number): ModelShape => ({
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
  recurrentBytes: 0,
  recurrentLength: 0,
  hasFlashAttention: true,
});

/** Marks the first choice of each use case, and puts its reason before that of the fit. */
const withChoices = (rows: ModelFit[], asked: UseCase = 'chat'): ModelFit[] => {
  const candidates = rows.map((row) => ({ ...row, parameters: row.parameters ?? 0 }));
  const choices = USE_CASES.map((useCase) => ({
    useCase,
    ...recommend(candidatesFor(candidates, useCase), useCase),
  }));
  return rows.map((row) => {
    const own = choices.filter(({ model }) => model === row.model);
    const recommendedFor = own.map(({ useCase }) => useCase);
    const reasons = own.filter(({ useCase }) => useCase === asked || own.length === 1);
    return {
      ...row,
      recommendedFor,
      recommended: recommendedFor.includes(asked),
      why: [...reasons.map(({ why }) => why), row.why].join(' '),
    };
  });
};

/** Agents need tools: for chat a model without them comes only where none with them fits. */
const candidatesFor = <T extends Pick<ModelFit, 'useCases' | 'runsOn'>>(
  rows: T[],
  useCase: UseCase,
): T[] => {
  if (useCase !== 'chat') return rows;
  const able = rows.filter(({ useCases }) => useCases.includes('tools'));
  return able.some(({ runsOn }) => runsOn !== 'none') ? able : rows;
};
