import { join } from 'node:path';
import type { GgufHeader } from '../providers/gguf/header.js';
import type { ModelShape } from '../providers/gguf/shape.js';
import type { Catalogue, CatalogueFile, CatalogueModel, UseCase } from './catalogue.js';
import { shapeOfFacts } from './fit/estimate.js';
import type { HeaderReading } from './header.js';
import type { InstalledCapability } from './installedmodels.js';
import { LLAMA } from './packages.js';
import { buildInstallId, buildModelSlug } from './plan.js';

export interface FittedModel {
  id: string;
  slug: string;
  name: string;
  useCases: UseCase[];
  parameters: number | null;
  quantization: string | null;
  /** Maximum context in tokens; null: not known. */
  contextWindow: number | null;
  bytes: number;
  /** null: only its size is known. */
  shape: ModelShape | null;
  /** Memory of the engine besides the weights, if `shape` does not include it. */
  workingBytes: number;
  licence: string | null;
  isInstalled: boolean;
  /** False if no engine on this machine runs the file. */
  isForLlama: boolean;
  speedKeys: string[];
  /** Why the file cannot be read, or must be downloaded again. */
  fault: string | null;
  reason: string | null;
}

export const cataloguedModels = (
  { models }: Catalogue,
  installed: InstalledCapability[],
): FittedModel[] =>
  models.flatMap((model) =>
    model.files
      .filter((file) => !installed.some(({ slug }) => slug === buildModelSlug(model, file)))
      .map((file) => ({
        id: buildInstallId(model.kind === 'speech' ? 'whisper' : 'gguf', model, file),
        slug: buildModelSlug(model, file),
        name: model.name,
        useCases: model.useCases,
        parameters: model.parameters,
        quantization: file.quantization,
        contextWindow: model.contextWindow,
        bytes: file.bytes,
        shape: shapeOfModel(model, file),
        workingBytes: estimateWorkingBytes(model),
        licence: model.licence.name,
        isInstalled: false,
        isForLlama: model.kind !== 'speech',
        speedKeys: model.ollama === null ? [] : [`ollama:${model.ollama}`],
        fault: null,
        reason: null,
      })),
  );

export const shapeOfModel = (
  { architecture, parameters, activeParameters }: CatalogueModel,
  { bytes }: CatalogueFile,
): ModelShape | null =>
  architecture && shapeOfFacts({ architecture, parameters, activeParameters }, bytes);

/**
 * Memory that whisper.cpp needs besides the weights: states and buffers. It grows with the width of
 * the model, so with the root of its parameters. Fitted to the README of whisper.cpp (tiny 273 MB,
 * base 388 MB, small 852 MB, medium 2.1 GB), within 25 MB of each.
 */
export const estimateWorkingBytes = ({ kind, parameters }: CatalogueModel): number =>
  kind === 'speech' ? Math.round(81e6 + 18.3e6 * Math.sqrt(parameters / 1e6)) : 0;

export const findGgufFile = ({ files, folder }: InstalledCapability): string | null => {
  const found = files.find(({ path }) => /^model(-00001-of-\d{5})?\.gguf$/.test(path));
  return found ? join(folder, found.path) : null;
};

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

export const usesByHeader = (header: GgufHeader | null): UseCase[] => {
  if (!header) return [];
  if (header.isEmbedding) return ['embedding'];
  return header.hasTools ? ['chat', 'tools'] : ['chat'];
};
