import { fileParts, planAddress } from './address.js';
import type { CatalogueFile, CatalogueModel, UseCase } from './catalogue.js';
import { SLUG } from './catalogue.js';
import {
  ENGINES,
  type EngineHost,
  engineOf,
  enginePackages,
  LLAMA,
  tesseractPackages,
  WHISPER,
} from './packages.js';
import { planOllama } from './planollama.js';
import { suggestInstall } from './suggest.js';
import { withoutQuery } from './toldfile.js';

/** One file that is fetched for a capability. */
export interface PlannedFile {
  url: string;
  /** Its name in the folder of the capability. */
  path: string;
  /** null: not known before the server is asked. */
  bytes: number | null;
  sha256: string | null;
}

interface PlanFacts {
  /** The id that is installed, in its long form: `gguf:qwen3-4b:Q4_K_M`. */
  id: string;
  slug: string;
  kind: 'model' | 'engine' | 'language';
  name: string;
  version: string | null;
  bytes: number | null;
  licence: PlannedLicence | null;
  /** The origin of its files, for a person. */
  source: string;
  useCases: UseCase[];
  /** Slugs of the capabilities that it works with only. */
  needs: string[];
}

export interface PlannedLicence {
  name: string;
  url: string | null;
  /** True if it has terms of its own, which a person is to accept. */
  mustAccept: boolean;
}

/** All that is to be done for an installation. It is kept with its operation. */
export type InstallPlan =
  | (PlanFacts & { via: 'download'; files: PlannedFile[]; contextWindow: number | null })
  | (PlanFacts & { via: 'npm' })
  | (PlanFacts & { via: 'ollama'; model: string; contextWindow: number | null });

/** The reason why there is no plan, with the field that it is about. */
export interface NoPlan {
  field: string;
  fault: string;
  /** True if nothing has the name, so that another one may have been meant. */
  isUnknown?: boolean;
}

/** The request, as far as it decides what is fetched. */
export interface WantedInstall {
  id: string;
  url?: string | undefined;
  sha256?: string | undefined;
}

/** A model in the folder that everything is installed from. */
export interface HeldModel {
  id: string;
  slug: string;
  name: string;
  version: string | null;
  licence: string | null;
  mustAccept?: boolean;
  licenceUrl?: string | null;
  source: string;
  useCases: UseCase[];
  bytes: number;
  files: { path: string; bytes: number; sha256: string }[];
  /** The id that it had where it was exported, which may be one of another catalogue. */
  exportedId?: string;
}

interface Planned {
  models: CatalogueModel[];
  host: EngineHost;
  /** The models in the folder that everything is installed from. */
  held?: HeldModel[];
}

/** Returns what an installation takes, or why there is none of that id and which may be meant. */
export const planInstall = (
  wanted: WantedInstall,
  { models, host, held = [] }: Planned,
): InstallPlan | NoPlan => {
  const id = idOfSlug(wanted.id, { models, held }) ?? wanted.id;
  const found = planOf({ ...wanted, id }, { models, host, held });
  if ('via' in found || !found.isUnknown) return found;
  const meant = suggestInstall(wanted.id, { models, held });
  return meant === null ? found : { ...found, fault: `${found.fault}. Did you mean ${meant}?` };
};

/** Returns the id of a model of the catalogue or of the folder with that slug; null: none has it. */
const idOfSlug = (
  slug: string,
  { models, held }: Pick<Required<Planned>, 'models' | 'held'>,
): string | null => {
  if (slug.includes(':') || engineOf(slug)) return null;
  for (const model of models) {
    const kind = model.kind === 'speech' ? 'whisper' : 'gguf';
    const file = model.files.find((each) => slugOf(model, each) === slug);
    if (file) return installIdOf(kind, model, file);
    if (model.id === slug && model.files[0]) return installIdOf(kind, model, model.files[0]);
  }
  return held.find((each) => each.slug === slug)?.id ?? null;
};

const planOf = (
  wanted: WantedInstall,
  { models, host, held }: Required<Planned>,
): InstallPlan | NoPlan => {
  const { id, url } = wanted;
  const [kind = '', ...rest] = id.split(':');
  const name = rest.join(':');
  if (url !== undefined && kind !== 'gguf') {
    return { field: 'url', fault: 'is only supported for gguf:<name>' };
  }
  const engine = engineOf(id);
  if (engine) return planEngine(engine, host);
  if (kind === 'gguf' && url !== undefined) return planAddress({ ...wanted, url }, name);
  if (kind === 'gguf') return planCatalogued(models, held, name);
  if (kind === 'whisper') return planSpeech(models, name);
  if (kind === 'ollama' && name !== '') return planOllama(models, name);
  if (kind === 'tesseract') return planLanguage(name);
  return unknown(
    `is not an installable capability. Use ${ENGINES.map(({ slug }) => slug).join(', ')}, gguf:<name>, ollama:<model>, tesseract:<language> or whisper:<size>`,
  );
};

const unknown = (fault: string): NoPlan => ({ field: 'id', fault, isUnknown: true });

const planEngine = (engine: (typeof ENGINES)[number], host: EngineHost): InstallPlan | NoPlan => {
  const { slug, name, bytes } = engine;
  const found = enginePackages(engine, host);
  if ('unsupported' in found)
    return { field: 'id', fault: `is not supported on this machine: ${found.unsupported}` };
  return {
    via: 'npm',
    id: slug,
    slug,
    kind: 'engine',
    name,
    version: found.version,
    bytes,
    licence: { name: 'MIT License', url: null, mustAccept: false },
    source: `npm: ${Object.keys(found.dependencies).join(', ')} ${found.version}`,
    useCases: [],
    needs: [],
  };
};

const planLanguage = (language: string): InstallPlan | NoPlan => {
  const found = tesseractPackages(language);
  if (!found) return unknown(`is not a Tesseract language: ${language}`);
  return {
    via: 'npm',
    id: `tesseract:${language}`,
    slug: languageSlug(language),
    kind: 'language',
    name: `Text recognition: ${language}`,
    version: found.version,
    bytes: null,
    licence: { name: 'MIT License', url: null, mustAccept: false },
    source: `npm: ${Object.keys(found.dependencies).join(', ')} ${found.version}`,
    useCases: [],
    needs: [],
  };
};

/** Returns the slug of a language of Tesseract: `tesseract-chi_sim`. */
export const languageSlug = (language: string): string => `tesseract-${language}`;

const planCatalogued = (
  models: CatalogueModel[],
  held: HeldModel[],
  name: string,
): InstallPlan | NoPlan => {
  const [id = '', quantization] = name.split(':');
  const model = models.find((each) => each.id === id && each.kind !== 'speech');
  const found = heldAs(held, `gguf:${name}`);
  if (!model && found) return planHeld(found);
  if (!model) {
    return unknown(`is not in the catalogue: ${id}. For other models set url and sha256`);
  }
  return planFile('gguf', model, quantization);
};

/** Finds a model of the folder by its id here, or by the one that it had where it was exported. */
const heldAs = (held: HeldModel[], id: string): HeldModel | undefined => {
  const own = held.find((each) => each.id === id);
  const [first, ...others] = held.filter(
    ({ exportedId }) => exportedId === id || exportedId?.startsWith(`${id}:`),
  );
  return own ?? (others.length === 0 ? first : undefined);
};

/** Plans a model that is in no catalogue, from its manifest. */
const planHeld = (found: HeldModel): InstallPlan => {
  const { id, slug, name, version, licence, source, useCases, bytes } = found;
  const { licenceUrl: url = null, mustAccept = false } = found;
  const files = found.files.filter(({ path }) => MODEL_FILE.test(path));
  return {
    via: 'download',
    id,
    slug,
    kind: 'model',
    name,
    version,
    bytes,
    licence: licence === null ? null : { name: licence, url, mustAccept },
    source,
    useCases,
    needs: [LLAMA],
    contextWindow: null,
    files: files.map((file) => ({ ...file, url: source })),
  };
};

/** A file of a model as it is named here, whole or in parts. */
export const MODEL_FILE = /^model(-\d{5}-of-\d{5})?\.gguf$/;

const planSpeech = (models: CatalogueModel[], name: string): InstallPlan | NoPlan => {
  const [size = '', quantization] = name.split(':');
  const model = models.find((each) => each.id === `whisper-${size}` && each.kind === 'speech');
  if (!model) return unknown(`is not a Whisper size: ${size}`);
  return planFile('whisper', model, quantization);
};

const planFile = (
  kind: 'gguf' | 'whisper',
  model: CatalogueModel,
  quantization: string | undefined,
): InstallPlan | NoPlan => {
  const file = quantization
    ? model.files.find((each) => each.quantization.toLowerCase() === quantization.toLowerCase())
    : model.files[0];
  if (!file) {
    const known = model.files.map((each) => each.quantization).join(', ') || 'none';
    return { field: 'id', fault: `is not a quantization of ${model.id}. Available: ${known}` };
  }
  if (!SLUG.test(slugOf(model, file)))
    return { field: 'id', fault: 'has a name that cannot be used as a slug' };
  const bytes = file.approximate ? null : file.bytes;
  const { url, sha256 } = file;
  const files =
    kind === 'gguf'
      ? fileParts({ url, bytes, sha256 })
      : [{ url, path: 'model.bin', bytes, sha256 }];
  return {
    via: 'download',
    id: installIdOf(kind, model, file),
    slug: slugOf(model, file),
    kind: 'model',
    name: `${model.name} ${file.quantization}`,
    version: file.quantization,
    bytes: files.length === 1 ? file.bytes : null,
    licence: model.licence,
    source: withoutQuery(file.url),
    useCases: model.useCases,
    needs: [kind === 'gguf' ? LLAMA : WHISPER],
    files,
    contextWindow: model.contextWindow,
  };
};

/** Returns the id with which a file of the catalogue is installed. */
export const installIdOf = (
  kind: 'gguf' | 'whisper',
  { id }: Pick<CatalogueModel, 'id'>,
  { quantization }: Pick<CatalogueFile, 'quantization'>,
): string => `${kind}:${kind === 'whisper' ? id.replace(/^whisper-/, '') : id}:${quantization}`;

/** Returns the slug of a file of the catalogue: `qwen3-4b-q4_k_m`. */
export const slugOf = (
  { id }: Pick<CatalogueModel, 'id'>,
  { quantization }: Pick<CatalogueFile, 'quantization'>,
): string => `${id}-${quantization.toLowerCase()}`;
