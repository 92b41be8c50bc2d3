import { GgufFault, type HeaderBytes } from './bytes.js';

/** Values only if they are few and short. */
export interface MetadataList {
  count: number;
  values: (number | boolean | string)[] | null;
}
export type MetadataValue = number | boolean | string | MetadataList;
export type Metadata = ReadonlyMap<string, MetadataValue>;

export const TOKENS = 'tokenizer.ggml.tokens';

/** Real files have about 60 keys and 300,000 tokens. */
const MAX_KEYS = 65_536;
const MAX_TOKENS = 1_048_576;
/** Limit of the format, and of the longest text, which is a chat template. */
const MAX_KEY_LENGTH = 65_535;
const MAX_TEXT_LENGTH = 1024 * 1024;
/** Values kept per list, and their maximum text length. */
const KEPT_VALUES = 4096;
const KEPT_TEXT = 256;

const STRING = 8;
const LIST = 9;
/** By type number of the format. */
const TYPES: Record<number, { bytes: number; read(from: HeaderBytes): number | boolean }> = {
  0: { bytes: 1, read: (from) => from.uint8() },
  1: { bytes: 1, read: (from) => from.int8() },
  2: { bytes: 2, read: (from) => from.uint16() },
  3: { bytes: 2, read: (from) => from.int16() },
  4: { bytes: 4, read: (from) => from.uint32() },
  5: { bytes: 4, read: (from) => from.int32() },
  6: { bytes: 4, read: (from) => from.float32() },
  7: { bytes: 1, read: (from) => from.uint8() !== 0 },
  10: { bytes: 8, read: (from) => from.int64() },
  11: { bytes: 8, read: (from) => from.int64() },
  12: { bytes: 8, read: (from) => from.float64() },
};

/** Throws GgufFault for duplicates. */
export const readMetadata = (from: HeaderBytes, keys: number): Metadata => {
  if (keys > MAX_KEYS) {
    throw new GgufFault(`The file has ${keys} metadata keys, the maximum is ${MAX_KEYS}`);
  }
  const metadata = new Map<string, MetadataValue>();
  for (let n = 0; n < keys; n++) {
    const key = takeText(from, 'a metadata key', MAX_KEY_LENGTH);
    if (metadata.has(key)) throw new GgufFault(`Duplicate metadata key ${quoted(key)}`);
    metadata.set(key, readValue(from, key));
  }
  return metadata;
};

/** Throws GgufFault if it is too long. */
export const takeText = (from: HeaderBytes, what: string, longest: number): string => {
  const bytes = from.count(`bytes for ${what}`);
  if (bytes > longest) {
    throw new GgufFault(`The file declares ${bytes} bytes for ${what}, the maximum is ${longest}`);
  }
  return from.text(bytes, 'utf8');
};

export const quoted = (name: string): string => JSON.stringify(name.slice(0, 80));

const readValue = (from: HeaderBytes, key: string): MetadataValue => {
  const type = from.uint32();
  if (type === STRING) return takeText(from, `the text of ${quoted(key)}`, MAX_TEXT_LENGTH);
  if (type === LIST) return readList(from, key);
  return requireValueType(type, key).read(from);
};

const readList = (from: HeaderBytes, key: string): MetadataList => {
  const type = from.uint32();
  if (type === LIST) throw new GgufFault(`The list ${quoted(key)} contains nested lists`);
  const count = from.count(`values for the list ${quoted(key)}`);
  if (type === STRING) {
    return key === TOKENS ? checkTokens(from, count) : readTexts(from, count, key);
  }
  const { bytes, read } = requireValueType(type, key);
  if (count <= KEPT_VALUES) {
    return { count, values: Array.from({ length: count }, () => read(from)) };
  }
  from.skip(count * bytes);
  return { count, values: null };
};

const requireValueType = (type: number, key: string) => {
  const known = TYPES[type];
  if (!known) throw new GgufFault(`The value of ${quoted(key)} has unknown type ${type}`);
  return known;
};

const readTexts = (from: HeaderBytes, count: number, key: string): MetadataList => {
  const values: string[] = [];
  for (let n = 0; n < count; n++) {
    const bytes = from.count(`bytes for a text of ${quoted(key)}`);
    if (count > KEPT_VALUES || bytes > KEPT_TEXT) from.skip(bytes);
    else values.push(from.text(bytes, 'utf8'));
  }
  return { count, values: values.length === count ? values : null };
};

/** llama.cpp aborts on duplicate tokens, except empty ones. */
const checkTokens = (from: HeaderBytes, count: number): MetadataList => {
  if (count > MAX_TOKENS) {
    throw new GgufFault(`The file has ${count} tokens, the maximum is ${MAX_TOKENS}`);
  }
  const seen = new Set<string>();
  for (let n = 0; n < count; n++) {
    const bytes = from.count('bytes for a token');
    if (bytes > MAX_KEY_LENGTH)
      throw new GgufFault(
        `A token in the vocabulary has ${bytes} bytes, the maximum is ${MAX_KEY_LENGTH}`,
      );
    const token = from.text(bytes, 'latin1');
    if (bytes > 0 && seen.has(token)) {
      const shown = quoted(Buffer.from(token, 'latin1').toString());
      throw new GgufFault(`Duplicate token ${shown} in the vocabulary`);
    }
    seen.add(token);
  }
  return { count, values: null };
};
