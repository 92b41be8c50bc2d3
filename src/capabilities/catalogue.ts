import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Joi from 'joi';
import type { Http } from '../kernel/http.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import { readRegularFile } from '../kernel/regularfile.js';
import type { CatalogueShape } from './fit/estimate.js';
import { readWithTimeout } from './readtimeout.js';
import { downloadUrlFault, redactUrl } from './remotefilefacts.js';

export const USE_CASES = ['chat', 'tools', 'code', 'embedding', 'speech'] as const;
export type UseCase = (typeof USE_CASES)[number];

export interface CatalogueFile {
  quantization: string;
  bytes: number;
  /** True if the source states the size with only two decimals. */
  approximate?: boolean;
  /** null: requested from the server before the download. */
  sha256: string | null;
  url: string;
}

export interface CatalogueModel {
  id: string;
  family: string;
  name: string;
  kind: 'chat' | 'embedding' | 'speech';
  useCases: UseCase[];
  parameters: number;
  /** Parameters read per token, in a mixture of experts. */
  activeParameters: number | null;
  architecture: CatalogueShape | null;
  contextWindow: number | null;
  licence: { id: string; name: string; url: string; mustAccept: boolean };
  languages: string[];
  tools: boolean;
  ollama: string | null;
  files: CatalogueFile[];
}

export interface Catalogue {
  date: string;
  models: CatalogueModel[];
}

export interface ChosenCatalogue {
  catalogue: Catalogue;
  source: string;
  fault: string | null;
}

export const SLUG = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** Names of other capabilities, of endpoints, and names that no model may have. */
const RESERVED =
  /^(llama|whisper|node|ollama|tesseract|confinement|claude|codex|gemini|opencode|ffmpeg|pocketsphinx|hardware|install|measure|digest|default|routing|health|test|usage|cli|providers)$/;
const RESERVED_BEGINNINGS = /^(tesseract|ollama|whisper)-/;

export const isReserved = (slug: string): boolean =>
  RESERVED.test(slug) || RESERVED_BEGINNINGS.test(slug);

const isReservedModel = ({ id, kind }: { id: string; kind: string }): boolean =>
  kind === 'speech' ? !/^whisper-/.test(id) : isReserved(id) || isReserved(`${id}-x`);

const BUILT_IN = fileURLToPath(new URL('./catalogue.json', import.meta.url));
const MAX_BYTES = 4 * 1024 * 1024;
/** The memory of each file is estimated. */
const MAX_FILES = 900;
const KEPT_MS = 3_600_000;
const FAULT_KEPT_MS = 30_000;

const whole = () => Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER);
const small = () => Joi.number().integer().min(1).max(10_000_000);
/** More than any model has. The memory of each layer is counted. */
const layers = () => Joi.number().integer().min(1).max(1024);
const heads = () => Joi.number().integer().min(1).max(4096);
const length = () => Joi.number().integer().min(1).max(1_048_576);
/** One line that is displayed as it is written. */
export const lineSchema = (max = 200) =>
  Joi.string()
    .max(max)
    .pattern(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]*$/u, 'text without control characters');

const shapeSchema = () =>
  Joi.object({
    name: lineSchema(60),
    layers: layers(),
    heads: heads(),
    kvHeads: heads(),
    keyLength: length(),
    valueLength: length(),
    embeddingLength: length(),
    feedForwardLength: small().allow(0),
    vocabulary: small().allow(0),
    slidingWindow: Joi.object({ window: small(), every: layers().allow(0) }).allow(null),
  });

const fileSchema = () =>
  Joi.object({
    quantization: Joi.string().pattern(/^[A-Za-z0-9_]{1,40}$/),
    bytes: whole().min(1),
    approximate: Joi.boolean().strict().optional(),
    sha256: Joi.string()
      .pattern(/^[0-9a-f]{64}$/)
      .allow(null),
    url: lineSchema(2000).uri().custom(downloadUrl),
  });

const downloadUrl: Joi.CustomValidator<string> = (url, { message }) => {
  const fault = downloadUrlFault(url);
  return fault === null ? url : message({ custom: `{{#label}} ${fault}` });
};

const freeName: Joi.CustomValidator<CatalogueModel> = (model, { error }) =>
  isReservedModel(model) ? error('any.invalid') : model;

const realDate: Joi.CustomValidator<string> = (day, { error }) => {
  const time = Date.parse(`${day}T00:00:00Z`);
  const isReal = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
  return isReal ? day : error('any.invalid');
};

const modelSchema = () =>
  Joi.object({
    id: Joi.string().pattern(SLUG),
    family: lineSchema(),
    name: lineSchema(),
    kind: Joi.string().valid('chat', 'embedding', 'speech'),
    useCases: Joi.array()
      .items(Joi.string().valid(...USE_CASES))
      .max(5),
    parameters: whole(),
    activeParameters: whole().allow(null),
    architecture: shapeSchema().allow(null),
    contextWindow: small().allow(null),
    licence: Joi.object({
      id: lineSchema(),
      name: lineSchema(),
      url: lineSchema(2000).uri({ scheme: 'https' }),
      mustAccept: Joi.boolean(),
    }),
    languages: Joi.array().items(lineSchema(20)).max(500),
    tools: Joi.boolean().strict(),
    ollama: lineSchema().allow(null),
    files: Joi.array()
      .items(fileSchema())
      .unique(
        (one: CatalogueFile, other: CatalogueFile) =>
          one.quantization.toLowerCase() === other.quantization.toLowerCase(),
      )
      .max(50),
  }).custom(freeName);

/**
 * Unknown keys are rejected: a catalogue contains only models, no packages, versions or scripts.
 */
const makeSchema = (): Joi.ObjectSchema<Catalogue> =>
  Joi.object<Catalogue>({
    date: Joi.string()
      .pattern(/^\d{4}-\d{2}-\d{2}$/)
      .custom(realDate),
    models: Joi.array()
      .items(modelSchema())
      .unique('id')
      .max(MAX_FILES)
      .custom((models: CatalogueModel[], { error }) =>
        models.flatMap(({ files }) => files).length > MAX_FILES ? error('array.max') : models,
      ),
  }).prefs({ presence: 'required', convert: false });

let schema: Joi.ObjectSchema<Catalogue> | undefined;

export const checkCatalogue = (text: string): Catalogue | string => {
  const input = parsedJson(text);
  if (input === undefined) return 'the catalogue is not valid JSON';
  schema ??= makeSchema();
  const { value, error } = schema.validate(input, { abortEarly: true });
  return error ? `${error.message.slice(0, 300)}` : value;
};

/**
 * The built-in catalogue, with the models of the configured one (HTTPS URL or file), which is
 * reread every hour. An invalid catalogue is not used.
 */
export const createCatalogues = (http: Pick<Http, 'request'>, setting: string | null) => {
  let stored: { until: number; chosen: Promise<ChosenCatalogue> } | undefined;
  const choose = async (): Promise<ChosenCatalogue> => {
    const builtin = builtIn();
    const shown = setting !== null && /^https?:/.test(setting) ? redactUrl(setting) : setting;
    if (setting === null || shown === null)
      return { catalogue: builtin, source: 'built in', fault: null };
    const read = await readConfigured(http, setting);
    const found = 'text' in read ? checkCatalogue(read.text) : read.fault;
    return typeof found === 'string'
      ? { catalogue: builtin, source: 'built in', fault: `${shown}: ${found}` }
      : { catalogue: found, source: shown, fault: null };
  };
  return (): Promise<ChosenCatalogue> => {
    const now = performance.now();
    if (stored && now < stored.until) return stored.chosen;
    const next = { until: now + KEPT_MS, chosen: choose() };
    stored = next;
    const forget = (): void => {
      next.until = Math.min(next.until, performance.now() + FAULT_KEPT_MS);
    };
    next.chosen.then(({ fault }) => fault !== null && forget(), forget);
    return next.chosen;
  };
};

/** Not validated here, since that would block the event loop for 0.1 s. A test validates it. */
const builtIn = (): Catalogue => JSON.parse(readFileSync(BUILT_IN, 'utf8'));

type CatalogueText = { text: string } | { fault: string };

const readConfigured = async (
  http: Pick<Http, 'request'>,
  setting: string,
): Promise<CatalogueText> => {
  try {
    if (!/^https?:/.test(setting)) {
      const read = async () => ({
        text: await readRegularFile(await realpath(setting).catch(() => setting), MAX_BYTES),
      });
      return await readWithTimeout<CatalogueText>(setting, read, {
        fault: 'the catalogue does not respond',
      });
    }
    const { status, body } = await http.request({
      method: 'GET',
      url: setting,
      keepsTls: true,
      maxBytes: MAX_BYTES,
    });
    return status === 200 ? { text: body.toString() } : { fault: `the server returned ${status}` };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'the catalogue cannot be read' };
  }
};
