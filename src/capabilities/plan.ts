import { fileParts, planAddress } from './address.js';
import type { CatalogueFile, CatalogueModel, UseCase } from './catalogue.js';
import { SLUG } from './catalogue.js';
import type { InstallPlan, InstallRequest, PlanRefusal } from './installplan.js';
import {
  ENGINES,
  type EngineHost,
  enginePackages,
  findNpmEngine,
  LLAMA,
  tesseractPackages,
  WHISPER,
} from './packages.js';
import { planOllama } from './planollama.js';
import { redactUrl } from './remotefilefacts.js';
import { suggestInstall } from './suggest.js';

/** A model in the source folder. */
export interface SourceModel {
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
  /** Id where it was exported; may belong to another catalogue. */
  exportedId?: string;
}

interface Planned {
  models: CatalogueModel[];
  host: EngineHost;
  held?: SourceModel[];
}

export const planInstall = (
  wanted: InstallRequest,
  { models, host, held = [] }: Planned,
): InstallPlan | PlanRefusal => {
  const id = idOfSlug(wanted.id, { models, held }) ?? wanted.id;
  const found = buildInstallPlan({ ...wanted, id }, { models, host, held });
  if ('via' in found || !found.isUnknown) return found;
  const match = suggestInstall(wanted.id, { models, held });
  return match === null ? found : { ...found, fault: `${found.fault}. Did you mean ${match}?` };
};

/** null: no model has that slug. */
const idOfSlug = (
  slug: string,
  { models, held }: Pick<Required<Planned>, 'models' | 'held'>,
): string | null => {
  if (slug.includes(':') || findNpmEngine(slug)) return null;
  for (const model of models) {
    const kind = model.kind === 'speech' ? 'whisper' : 'gguf';
    const file = model.files.find((each) => buildModelSlug(model, each) === slug);
    if (file) return buildInstallId(kind, model, file);
    if (model.id === slug && model.files[0]) return buildInstallId(kind, model, model.files[0]);
  }
  return held.find((each) => each.slug === slug)?.id ?? null;
};

const buildInstallPlan = (
  wanted: InstallRequest,
  { models, host, held }: Required<Planned>,
): InstallPlan | PlanRefusal => {
  const { id, url } = wanted;
  const [kind = '', ...rest] = id.split(':');
  const name = rest.join(':');
  if (url !== undefined && kind !== 'gguf') {
    return { field: 'url', fault: 'is only supported for gguf:<name>' };
  }
  const engine = findNpmEngine(id);
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

const unknown = (fault: string): PlanRefusal => ({ field: 'id', fault, isUnknown: true });

const planEngine = (
  engine: (typeof ENGINES)[number],
  host: EngineHost,
): InstallPlan | PlanRefusal => {
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

const planLanguage = (language: string): InstallPlan | PlanRefusal => {
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

/** `tesseract-chi_sim`. */
export const languageSlug = (language: string): string => `tesseract-${language}`;

const planCatalogued = (
  models: CatalogueModel[],
  heldItems: SourceModel[],
  name: string,
): InstallPlan | PlanRefusal => {
  const [id = '', quantization] = name.split(':');
  const model = models.find((each) => each.id === id && each.kind !== 'speech');
  const found = findSourceModel(heldItems, `gguf:${name}`);
  if (!model && found) return planSourceModel(found);
  if (!model) {
    return unknown(`is not in the catalogue: ${id}. For other models set url and sha256`);
  }
  return planFile('gguf', model, quantization);
};

/** By its id here, or by its id where it was exported. */
const findSourceModel = (heldItems: SourceModel[], id: string): SourceModel | undefined => {
  const own = heldItems.find((each) => each.id === id);
  const [first, ...others] = heldItems.filter(
    ({ exportedId }) => exportedId === id || exportedId?.startsWith(`${id}:`),
  );
  return own ?? (others.length === 0 ? first : undefined);
};

const planSourceModel = (found: SourceModel): InstallPlan => {
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

/** A model file, whole or in parts. */
export const MODEL_FILE = /^model(-\d{5}-of-\d{5})?\.gguf$/;

const planSpeech = (models: CatalogueModel[], name: string): InstallPlan | PlanRefusal => {
  const [size = '', quantization] = name.split(':');
  const model = models.find((each) => each.id === `whisper-${size}` && each.kind === 'speech');
  if (!model) return unknown(`is not a Whisper size: ${size}`);
  return planFile('whisper', model, quantization);
};

const planFile = (
  kind: 'gguf' | 'whisper',
  model: CatalogueModel,
  quantization: string | undefined,
): InstallPlan | PlanRefusal => {
  const file = quantization
    ? model.files.find((each) => each.quantization.toLowerCase() === quantization.toLowerCase())
    : model.files[0];
  if (!file) {
    const known = model.files.map((each) => each.quantization).join(', ') || 'none';
    return { field: 'id', fault: `is not a quantization of ${model.id}. Available: ${known}` };
  }
  if (!SLUG.test(buildModelSlug(model, file)))
    return { field: 'id', fault: 'has a name that cannot be used as a slug' };
  const bytes = file.approximate ? null : file.bytes;
  const { url, sha256 } = file;
  const files =
    kind === 'gguf'
      ? fileParts({ url, bytes, sha256 })
      : [{ url, path: 'model.bin', bytes, sha256 }];
  return {
    via: 'download',
    id: buildInstallId(kind, model, file),
    slug: buildModelSlug(model, file),
    kind: 'model',
    name: `${model.name} ${file.quantization}`,
    version: file.quantization,
    bytes: files.length === 1 ? file.bytes : null,
    licence: model.licence,
    source: redactUrl(file.url),
    useCases: model.useCases,
    needs: [kind === 'gguf' ? LLAMA : WHISPER],
    files,
    contextWindow: model.contextWindow,
  };
};

export const buildInstallId = (
  kind: 'gguf' | 'whisper',
  { id }: Pick<CatalogueModel, 'id'>,
  { quantization }: Pick<CatalogueFile, 'quantization'>,
): string => `${kind}:${kind === 'whisper' ? id.replace(/^whisper-/, '') : id}:${quantization}`;

/** `qwen3-4b-q4_k_m`. */
export const buildModelSlug = (
  { id }: Pick<CatalogueModel, 'id'>,
  { quantization }: Pick<CatalogueFile, 'quantization'>,
): string => `${id}-${quantization.toLowerCase()}`;
