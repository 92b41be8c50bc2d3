import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Joi from 'joi';
import type { Http } from '../kernel/http.js';
import { parsedJson } from '../kernel/jsonvalue.js';
import type { CatalogueShape } from './fit/estimate.js';

export type UseCase = 'chat' | 'tools' | 'code' | 'embedding' | 'speech';

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

const BUILT_IN = fileURLToPath(new URL('./catalogue.json', import.meta.url));
/** Ours: the most bytes of a catalogue. */
const MOST_BYTES = 4 * 1024 * 1024;
const KEPT_MS = 3_600_000;

const whole = () => Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER);
const small = () => Joi.number().integer().min(1).max(10_000_000);
const line = (max = 200) => Joi.string().max(max);

const shapeSchema = () =>
  Joi.object({
    name: line(60),
    layers: small(),
    heads: small(),
    kvHeads: small(),
    keyLength: small(),
    valueLength: small(),
    embeddingLength: small(),
    feedForwardLength: whole(),
    vocabulary: whole(),
    slidingWindow: Joi.object({ window: small(), every: whole() }).allow(null),
  });

const fileSchema = () =>
  Joi.object({
    quantization: Joi.string().pattern(/^[A-Za-z0-9_]{1,40}$/),
    bytes: whole().min(1),
    approximate: Joi.boolean().strict().optional(),
    sha256: Joi.string()
      .pattern(/^[0-9a-f]{64}$/)
      .allow(null),
    url: line(2000).uri({ scheme: ['https', 'http'] }),
  });

const modelSchema = () =>
  Joi.object({
    id: Joi.string().pattern(SLUG),
    family: line(),
    name: line(),
    kind: Joi.string().valid('chat', 'embedding', 'speech'),
    useCases: Joi.array()
      .items(Joi.string().valid('chat', 'tools', 'code', 'embedding', 'speech'))
      .max(5),
    parameters: whole(),
    activeParameters: whole().allow(null),
    architecture: shapeSchema().allow(null),
    contextWindow: whole().min(1).allow(null),
    licence: Joi.object({ id: line(), name: line(), url: line(2000), mustAccept: Joi.boolean() }),
    languages: Joi.array().items(line(20)).max(500),
    tools: Joi.boolean().strict(),
    ollama: line().allow(null),
    files: Joi.array().items(fileSchema()).max(50),
  });

/**
 * Makes the schema of a catalogue, when the first is checked. Unknown keys are refused: a catalogue
 * names models, and no package, version or script.
 */
const makeSchema = (): Joi.ObjectSchema<Catalogue> =>
  Joi.object<Catalogue>({
    date: Joi.string().pattern(/^\d{4}-\d{2}-\d{2}$/),
    models: Joi.array().items(modelSchema()).unique('id').max(1000),
  }).prefs({ presence: 'required', convert: false });

let schema: Joi.ObjectSchema<Catalogue> | undefined;

/** Returns a catalogue that was checked, or what is wrong with it. */
export const checkCatalogue = (text: string): Catalogue | string => {
  const given = parsedJson(text);
  if (given === undefined) return 'it is not JSON';
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
  let kept: { at: number; chosen: Promise<ChosenCatalogue> } | undefined;
  const choose = async (): Promise<ChosenCatalogue> => {
    const builtin = builtIn();
    if (setting === null) return { catalogue: builtin, source: 'built in', fault: null };
    const read = await readGiven(http, setting);
    const found = 'text' in read ? checkCatalogue(read.text) : read.fault;
    return typeof found === 'string'
      ? { catalogue: builtin, source: 'built in', fault: `${setting}: ${found}` }
      : { catalogue: found, source: setting, fault: null };
  };
  return (): Promise<ChosenCatalogue> => {
    if (!kept || performance.now() - kept.at > KEPT_MS) {
      kept = { at: performance.now(), chosen: choose() };
    }
    return kept.chosen;
  };
};

const builtIn = (): Catalogue => {
  const found = checkCatalogue(readFileSync(BUILT_IN, 'utf8'));
  if (typeof found === 'string') throw new Error(`The catalogue that ships: ${found}`);
  return found;
};

const readGiven = async (
  http: Pick<Http, 'request'>,
  setting: string,
): Promise<{ text: string } | { fault: string }> => {
  try {
    if (!/^https?:/.test(setting)) return { text: (await readFile(setting)).toString() };
    const { status, body } = await http.request({
      method: 'GET',
      url: setting,
      maxBytes: MOST_BYTES,
    });
    return status === 200 ? { text: body.toString() } : { fault: `it answered ${status}` };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'it cannot be read' };
  }
};
