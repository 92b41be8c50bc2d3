import type { Machine } from '../providers/hardware/machine.js';
import { estimateWorkingBytes, shapeOfModel } from './candidates.js';
import type { Catalogue, CatalogueFile, CatalogueModel } from './catalogue.js';
import type { MemoryWarning } from './contract.js';
import { placeModel } from './fit/machine.js';
import { computeModelMemory } from './fit/memory.js';
import { DEFAULT_WINDOW } from './fit/window.js';
import { memoryOn, sizeOnlyShape } from './hardware.js';
import type { InstallPlan } from './installplan.js';
import type { LlamaGpuUse } from './llamagpu.js';
import { LLAMA } from './packages.js';
import { buildModelSlug } from './plan.js';

interface WarningFacts {
  catalogue: Catalogue;
  machine: Machine;
  llama: Pick<LlamaGpuUse, 'gpus'>;
}

/**
 * null if it fits, or if the size or the memory is not known. Only a warning, since memory can be
 * added.
 */
export const memoryWarningFor = (
  plan: InstallPlan,
  { catalogue, machine, llama }: WarningFacts,
  requested: number = DEFAULT_WINDOW,
): MemoryWarning | null => {
  const { totalBytes, availableBytes } = machine.memory;
  if (plan.kind !== 'model' || (totalBytes === null && availableBytes === null)) return null;
  const found = catalogue.models.flatMap((model) => listPlannedFiles(model, plan)).at(0);
  const shape = found && shapeOfModel(found.model, found.file);
  const bytes = found?.file.bytes ?? plan.bytes;
  const working = found ? estimateWorkingBytes(found.model) : 0;
  const weights = shape ?? (bytes === null ? null : sizeOnlyShape(bytes, working));
  if (weights === null) return null;
  const contextWindow = Math.min(requested, found?.model.contextWindow ?? requested);
  const gpus = plan.needs.includes(LLAMA) ? llama.gpus : machine.gpus;
  const { runsOn, headroomBytes, why } = placeModel(
    memoryOn(machine, gpus),
    weights,
    contextWindow,
  );
  if (runsOn !== 'none') return null;
  const neededBytes = Math.round(computeModelMemory(weights, { contextWindow }).totalBytes);
  return {
    message: `The model does not fit the memory that is available now. ${why}`,
    neededBytes,
    usableBytes: Math.max(0, neededBytes + headroomBytes),
  };
};

const listPlannedFiles = (
  model: CatalogueModel,
  plan: InstallPlan,
): { model: CatalogueModel; file: CatalogueFile }[] => {
  const isPulled = plan.via === 'ollama' && model.ollama === plan.model;
  const file = isPulled
    ? model.files[0]
    : model.files.find((each) => buildModelSlug(model, each) === plan.slug);
  return file ? [{ model, file }] : [];
};
