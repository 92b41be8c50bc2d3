import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Joi from 'joi';
import type { Http } from '../kernel/http.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import type { CatalogueShape } from './fit/estimate.js';
import { readPatiently } from './patience.js';
import { readPlainText } from './plainfile.js';
import { hasCredentials, withoutQuery } from './toldfile.js';

export const USE_CASES = ['chat', 'tools', 'code', 'embedding', 'speech'] as const;
export type UseCase = (typeof USE_CASES)[number];

export interface CatalogueFile {
  quantization: string;
  bytes: number;
  /** True if the source told the size with two decimals only. */
  approximate?: boolean;
  /** null: asked of the server before the download. */
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
  /** The parameters that are read for each token, in a mixture of experts. */
  activeParameters: number | null;
  architecture: CatalogueShape | null;
  contextWindow: number | null;
  licence: { id: string; name: string; url: string; mustAccept: boolean };
  languages: string[];
  tools: boolean;
  /** Its name in Ollama's library. */
  ollama: string | null;
  files: CatalogueFile[];
}

export interface Catalogue {
  /** The day on which it was made: `2026-11-27`. */
  date: string;
  models: CatalogueModel[];
}

/** The catalogue that is used, and where it is from. */
export interface ChosenCatalogue {
  catalogue: Catalogue;
  source: string;
  /** The reason why the one that was asked for is not used. */
  fault: string | null;
}

/** A slug: the name of a folder of what is installed. */
export const SLUG = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/** Names of other capabilities, of requests, and those that no registered model may have. */
const RESERVED =
  /^(llama|whisper|node|ollama|tesseract|confinement|claude|codex|gemini|opencode|ffmpeg|pocketsphinx|hardware|install|measure|digest|default|routing|health|test|usage|cli|providers)$/;
const RESERVED_BEGINNINGS = /^(tesseract|ollama|whisper)-/;

/** Returns true if a slug is not free for a model from an address. */
export const isReserved = (slug: string): boolean =>
  RESERVED.test(slug) || RESERVED_BEGINNINGS.test(slug);

/** Returns true if the files of a model of a catalogue may have no names that begin with its id. */
const isReservedModel = ({ id, kind }: { id: string; kind: string }): boolean =>
  kind === 'speech' ? !/^whisper-/.test(id) : isReserved(id) || isReserved(`${id}-x`);

const BUILT_IN = fileURLToPath(new URL('./catalogue.json', import.meta.url));
/** Ours: the most bytes of a catalogue. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Ours: the most files of a catalogue; the memory of each is estimated. */
const MAX_FILES = 900;
const KEPT_MS = 3_600_000;
/** Ours: one that cannot be used is looked for again after this long, in milliseconds. */
const FAULT_KEPT_MS = 30_000;

const whole = () => Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER);
const small = () => Joi.number().integer().min(1).max(10_000_000);
/** Ours: more layers than any model has; the memory of each is counted. */
const layers = () => Joi.number().integer().min(1).max(1024);
/** Ours: more than any model has. */
const heads = () => Joi.number().integer().min(1).max(4096);
const length = () => Joi.number().integer().min(1).max(1_048_576);
const line = (max = 200) =>
  Joi.string()
    .max(max)
    .pattern(/^\P{Cc}*$/u, 'text without control characters');

const shapeSchema = () =>
  Joi.object({
    name: line(60),
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
    url: line(2000)
      .uri({ scheme: ['https', 'http'] })
      .custom((url: string, { error }) => (hasCredentials(url) ? error('any.invalid') : url)),
  });

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
    family: line(),
    name: line(),
    kind: Joi.string().valid('chat', 'embedding', 'speech'),
    useCases: Joi.array()
      .items(Joi.string().valid(...USE_CASES))
      .max(5),
    parameters: whole(),
    activeParameters: whole().allow(null),
    architecture: shapeSchema().allow(null),
    contextWindow: small().allow(null),
    licence: Joi.object({
      id: line(),
      name: line(),
      url: line(2000).uri({ scheme: 'https' }),
      mustAccept: Joi.boolean(),
    }),
    languages: Joi.array().items(line(20)).max(500),
    tools: Joi.boolean().strict(),
    ollama: line().allow(null),
    files: Joi.array()
      .items(fileSchema())
      .unique(
        (one: CatalogueFile, other: CatalogueFile) =>
          one.quantization.toLowerCase() === other.quantization.toLowerCase(),
      )
      .max(50),
  }).custom(freeName);

/**
 * Makes the schema of a catalogue, when the first is checked. Unknown keys are refused: a catalogue
 * names models, and no package, version or script.
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

/** Returns a catalogue that was checked, or what is wrong with it. */
export const checkCatalogue = (text: string): Catalogue | string => {
  const given = parsedJson(text);
  if (given === undefined) return 'it is not valid JSON';
  schema ??= makeSchema();
  const { value, error } = schema.validate(given, { abortEarly: true });
  return error ? `${error.message.slice(0, 300)}` : value;
};

/**
 * Creates what returns the catalogue: the one that ships, or the models of the one that the setting
 * names (an https address or a file), read again every hour. One that cannot be read or is not valid
 * is not used, and the reason is told.
 */
export const createCatalogues = (http: Pick<Http, 'request'>, setting: string | null) => {
  let kept: { until: number; chosen: Promise<ChosenCatalogue> } | undefined;
  const choose = async (): Promise<ChosenCatalogue> => {
    const builtin = builtIn();
    const shown = setting !== null && /^https?:/.test(setting) ? withoutQuery(setting) : setting;
    if (setting === null || shown === null)
      return { catalogue: builtin, source: 'built in', fault: null };
    const read = await readGiven(http, setting);
    const found = 'text' in read ? checkCatalogue(read.text) : read.fault;
    return typeof found === 'string'
      ? { catalogue: builtin, source: 'built in', fault: `${shown}: ${found}` }
      : { catalogue: found, source: shown, fault: null };
  };
  return (): Promise<ChosenCatalogue> => {
    const now = performance.now();
    if (kept && now < kept.until) return kept.chosen;
    const next = { until: now + KEPT_MS, chosen: choose() };
    kept = next;
    const forget = (): void => {
      next.until = Math.min(next.until, performance.now() + FAULT_KEPT_MS);
    };
    next.chosen.then(({ fault }) => fault !== null && forget(), forget);
    return next.chosen;
  };
};

/**
 * Reads the catalogue that ships. The tests check it, since the check at the first use would hold
 * the event loop for a tenth of a second.
 */
const builtIn = (): Catalogue => JSON.parse(readFileSync(BUILT_IN, 'utf8'));

type GivenText = { text: string } | { fault: string };

const readGiven = async (http: Pick<Http, 'request'>, setting: string): Promise<GivenText> => {
  try {
    if (!/^https?:/.test(setting)) {
      const read = async () => ({
        text: await readPlainText(await realpath(setting).catch(() => setting), MAX_BYTES),
      });
      return await readPatiently<GivenText>(setting, read, { fault: 'it does not respond' });
    }
    const { status, body } = await http.request({
      method: 'GET',
      url: setting,
      keepsTls: true,
      maxBytes: MAX_BYTES,
    });
    return status === 200 ? { text: body.toString() } : { fault: `it returned ${status}` };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'it cannot be read' };
  }
};
