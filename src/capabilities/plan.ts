import type { CatalogueFile, CatalogueModel, UseCase } from './catalogue.js';
import { SLUG } from './catalogue.js';
import { type EngineHost, LLAMA, llamaPackages, tesseractPackages } from './packages.js';

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
}

/** The request, as far as it decides what is fetched. */
interface WantedInstall {
  id: string;
  url?: string | undefined;
  sha256?: string | undefined;
}

interface Planned {
  models: CatalogueModel[];
  host: EngineHost;
}

/** Returns what an installation takes, or why there is none of that id. */
export const planInstall = (
  wanted: WantedInstall,
  { models, host }: Planned,
): InstallPlan | NoPlan => {
  const { id, url } = wanted;
  const [kind = '', ...rest] = id.split(':');
  const name = rest.join(':');
  if (url !== undefined && kind !== 'gguf') {
    return { field: 'url', fault: 'is for gguf:<name> alone' };
  }
  if (id === LLAMA) return planEngine(host);
  if (kind === 'gguf' && url !== undefined) return planAddress({ ...wanted, url }, name);
  if (kind === 'gguf') return planCatalogued(models, name);
  if (kind === 'whisper') return planSpeech(models, name);
  if (kind === 'ollama' && name !== '') return planOllama(models, name);
  if (kind === 'tesseract') return planLanguage(name);
  return {
    field: 'id',
    fault: `names nothing that can be installed: ${LLAMA}, gguf:<name>, ollama:<model>, tesseract:<language> or whisper:<size>`,
  };
};

const planEngine = (host: EngineHost): InstallPlan | NoPlan => {
  const found = llamaPackages(host);
  if ('unsupported' in found) return { field: 'id', fault: `cannot be: ${found.unsupported}` };
  return {
    via: 'npm',
    id: LLAMA,
    slug: LLAMA,
    kind: 'engine',
    name: 'llama.cpp (node-llama-cpp)',
    version: found.version,
    bytes: ENGINE_BYTES,
    licence: { name: 'MIT License', url: null, mustAccept: false },
    source: `npm: ${Object.keys(found.dependencies).join(', ')} ${found.version}`,
    useCases: [],
    needs: [],
  };
};

/** Measured: what the packages take on the disk without those for GPUs. */
const ENGINE_BYTES = 89_000_000;

const planLanguage = (language: string): InstallPlan | NoPlan => {
  const found = tesseractPackages(language);
  if (!found) return { field: 'id', fault: `names no language of Tesseract: ${language}` };
  return {
    via: 'npm',
    id: `tesseract:${language}`,
    slug: languageSlug(language),
    kind: 'language',
    name: `Recognition of text in ${language}`,
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

const planCatalogued = (models: CatalogueModel[], name: string): InstallPlan | NoPlan => {
  const [id = '', quantization] = name.split(':');
  const model = models.find((each) => each.id === id && each.kind !== 'speech');
  if (!model) {
    return {
      field: 'id',
      fault: `names no model of the catalogue: ${id}; give its url and sha256`,
    };
  }
  return planFile('gguf', model, quantization);
};

const planSpeech = (models: CatalogueModel[], name: string): InstallPlan | NoPlan => {
  const [size = '', quantization] = name.split(':');
  const model = models.find((each) => each.id === `whisper-${size}` && each.kind === 'speech');
  if (!model) return { field: 'id', fault: `names no size of Whisper: ${size}` };
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
    return { field: 'id', fault: `names no quantization of ${model.id}: ${known}` };
  }
  if (!SLUG.test(slugOf(model, file))) return { field: 'id', fault: 'has a name that is no slug' };
  const bytes = file.approximate ? null : file.bytes;
  const { url, sha256 } = file;
  const files =
    kind === 'gguf' ? partsOf({ url, bytes, sha256 }) : [{ url, path: 'model.bin', bytes, sha256 }];
  return {
    via: 'download',
    id: installIdOf(kind, model, file),
    slug: slugOf(model, file),
    kind: 'model',
    name: `${model.name} ${file.quantization}`,
    version: file.quantization,
    bytes: files.length === 1 ? file.bytes : null,
    licence: model.licence,
    source: file.url,
    useCases: model.useCases,
    needs: kind === 'gguf' ? [LLAMA] : [],
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

/** Names of other capabilities, and of requests. */
const RESERVED =
  /^(llama|node|ollama|confinement|claude|codex|gemini|opencode|hardware|install|measure)$/;
const RESERVED_BEGINNINGS = /^(tesseract|ollama|whisper)-/;

const isReserved = (slug: string): boolean => RESERVED.test(slug) || RESERVED_BEGINNINGS.test(slug);

const planAddress = (
  { id, url, sha256 }: WantedInstall & { url: string },
  name: string,
): InstallPlan | NoPlan => {
  const slug = name.toLowerCase();
  if (!SLUG.test(slug)) {
    return { field: 'id', fault: 'must be gguf:<name>, of letters, digits and . _ - in the name' };
  }
  if (isReserved(slug)) return { field: 'id', fault: `${slug} is the name of something else here` };
  const fault = faultOfUrl(url);
  if (fault !== null) return { field: 'url', fault };
  if (sha256 === undefined) return { field: 'sha256', fault: 'is required with url' };
  return {
    via: 'download',
    id,
    slug,
    kind: 'model',
    name,
    version: null,
    bytes: null,
    licence: null,
    source: url,
    useCases: [],
    needs: [LLAMA],
    files: partsOf({ url, bytes: null, sha256 }),
    contextWindow: null,
  };
};

/** A file comes over TLS; over the loopback it need not, which the guard allows by its own setting. */
const faultOfUrl = (url: string): string | null => {
  if (!URL.canParse(url)) return 'is no URL';
  const { protocol, hostname, username } = new URL(url);
  if (username !== '') return 'must hold no name and password';
  const isLoopback = /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback) ? null : 'must be https';
};

const PART = /-00001-of-(\d{5})\.gguf$/;
/** Ours: the most parts of one model. */
const MOST_PARTS = 200;

/** Returns the parts of a file that is split; the checksums of those after the first are asked for. */
const partsOf = ({ url, bytes, sha256 }: Part): PlannedFile[] => {
  const { pathname } = new URL(url);
  const count = Number(PART.exec(pathname)?.[1] ?? 1);
  if (count < 2 || count > MOST_PARTS) {
    return [{ url, path: 'model.gguf', bytes, sha256 }];
  }
  return Array.from({ length: count }, (_, at) => {
    const part = `-${String(at + 1).padStart(5, '0')}-of-${String(count).padStart(5, '0')}.gguf`;
    return {
      url: withPath(url, pathname.replace(PART, part)),
      path: `model${part}`,
      bytes: at === 0 ? bytes : null,
      sha256: at === 0 ? sha256 : null,
    };
  });
};

const withPath = (url: string, pathname: string): string => {
  const changed = new URL(url);
  changed.pathname = pathname;
  return changed.href;
};

interface Part {
  url: string;
  bytes: number | null;
  sha256: string | null;
}

/** A model in Ollama's library: `qwen3:4b`, `hf.co/owner/model:Q4_K_M`. */
const OLLAMA_MODEL = /^[a-z0-9][A-Za-z0-9._/-]{0,150}(:[A-Za-z0-9._-]{1,80})?$/;

const planOllama = (models: CatalogueModel[], name: string): InstallPlan | NoPlan => {
  if (!OLLAMA_MODEL.test(name)) return { field: 'id', fault: 'names no model of Ollama’s library' };
  const known = models.find(({ ollama }) => ollama === name);
  return {
    via: 'ollama',
    id: `ollama:${name}`,
    slug: ollamaSlug(name),
    kind: 'model',
    name,
    version: null,
    bytes: known?.files[0]?.bytes ?? null,
    licence: known?.licence ?? null,
    source: 'Ollama’s library',
    useCases: known?.useCases ?? [],
    needs: ['ollama'],
    model: name,
    contextWindow: known?.contextWindow ?? null,
  };
};

/** Returns the slug of a model that Ollama has: `ollama-qwen3-4b`. */
export const ollamaSlug = (model: string): string =>
  `ollama-${model.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')}`.slice(0, 100);
