import { join } from 'node:path';
import type { GgufHeader } from '../providers/gguf/header.js';
import type { ModelShape } from '../providers/gguf/shape.js';
import type { Catalogue, CatalogueFile, CatalogueModel, UseCase } from './catalogue.js';
import { shapeOfFacts } from './fit/estimate.js';
import type { HeaderReading } from './header.js';
import { LLAMA } from './packages.js';
import { installIdOf, slugOf } from './plan.js';
import type { InstalledCapability } from './shelf.js';

/** A model whose fit to the machine is to be found. */
export interface FittedModel {
  id: string;
  slug: string;
  name: string;
  useCases: UseCase[];
  parameters: number | null;
  quantization: string | null;
  /** The longest context that it was made for, in tokens; null: not known. */
  contextWindow: number | null;
  bytes: number;
  /** null: only its size is known. */
  shape: ModelShape | null;
  /** The memory that its engine takes beside the weights, where no shape says it. */
  workingBytes: number;
  licence: string | null;
  isInstalled: boolean;
  /** True for a file that llama runs; false: nothing here runs it. */
  isForLlama: boolean;
  /** The names under which its measured speed may be kept. */
  speedKeys: string[];
  /** The reason why its file cannot be read, or is to be fetched again. */
  fault: string | null;
  /** The reason why it can be neither used nor installed; null: it can. */
  reason: string | null;
}

/** Lists the files of the catalogue that are not installed. */
export const cataloguedModels = (
  { models }: Catalogue,
  installed: InstalledCapability[],
): FittedModel[] =>
  models.flatMap((model) =>
    model.files
      .filter((file) => !installed.some(({ slug }) => slug === slugOf(model, file)))
      .map((file) => ({
        id: installIdOf(model.kind === 'speech' ? 'whisper' : 'gguf', model, file),
        slug: slugOf(model, file),
        name: model.name,
        useCases: model.useCases,
        parameters: model.parameters,
        quantization: file.quantization,
        contextWindow: model.contextWindow,
        bytes: file.bytes,
        shape: shapeOfModel(model, file),
        workingBytes: workingBytesOf(model),
        licence: model.licence.name,
        isInstalled: false,
        isForLlama: model.kind !== 'speech',
        speedKeys: model.ollama === null ? [] : [`ollama:${model.ollama}`],
        fault: null,
        reason: null,
      })),
  );

/** Returns the shape of a model with the weights of one of its files; null if it is not known. */
export const shapeOfModel = (
  { architecture, parameters, activeParameters }: CatalogueModel,
  { bytes }: CatalogueFile,
): ModelShape | null =>
  architecture && shapeOfFacts({ architecture, parameters, activeParameters }, bytes);

/**
 * Returns the memory that whisper.cpp takes beside the weights of a model for speech: its states and
 * buffers. It follows the width of the model, which grows with the root of its parameters. The line is
 * fitted to the memory in whisper.cpp's README (tiny 273 MB, base 388 MB, small 852 MB, medium 2.1 GB),
 * and is within 25 MB of each.
 */
export const workingBytesOf = ({ kind, parameters }: CatalogueModel): number =>
  kind === 'speech' ? Math.round(81e6 + 18.3e6 * Math.sqrt(parameters / 1e6)) : 0;

/** Returns the path of the first GGUF file of what is installed; null if it has none. */
export const ggufOf = ({ files, folder }: InstalledCapability): string | null => {
  const found = files.find(({ path }) => /^model(-00001-of-\d{5})?\.gguf$/.test(path));
  return found ? join(folder, found.path) : null;
};

/** Describes a model that is installed, by the header of its file. */
export const installedModel = (found: InstalledCapability, reading: HeaderReading): FittedModel => {
  const { slug, name, bytes, licence, version, useCases } = found;
  const { header, fault } = reading;
  return {
    id: slug,
    slug,
    name,
    useCases: useCases.length > 0 ? useCases : usesByHeader(header),
    parameters: header?.parameters ?? null,
    quantization: header?.quantization.slice(0, 40) ?? version,
    contextWindow: header?.contextLength ?? null,
    bytes,
    shape: header,
    workingBytes: 0,
    licence: licence ?? header?.licence?.slice(0, 200) ?? null,
    isInstalled: true,
    isForLlama: true,
    speedKeys: [`${LLAMA}:${slug}`],
    fault,
    reason: fault,
  };
};

/** Lists what a model is for, by its header. */
export const usesByHeader = (header: GgufHeader | null): UseCase[] => {
  if (!header) return [];
  if (header.isEmbedding) return ['embedding'];
  return header.hasTools ? ['chat', 'tools'] : ['chat'];
};
