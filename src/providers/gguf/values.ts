import type { Metadata, MetadataValue } from './metadata.js';

/** A number of the metadata that is not negative; the first where a list is given; else null. */
export const metadataNumber = (metadata: Metadata, key: string): number | null => {
  const value = metadata.get(key);
  const single = isList(value) ? value.values?.[0] : value;
  return isCount(single) ? single : null;
};

/** One number for each layer, whether the file names one or a list of them; null: it names none. */
export const metadataNumbers = (
  metadata: Metadata,
  key: string,
  layers: number,
): number[] | null => {
  const value = metadata.get(key);
  if (isCount(value)) return Array.from({ length: layers }, () => value);
  const values = isList(value) ? value.values : null;
  return values && values.length >= layers && values.every(isCount) ? values : null;
};

/** A text of the metadata; null: there is none, or it is no text. */
export const metadataText = (metadata: Metadata, key: string): string | null => {
  const value = metadata.get(key);
  return typeof value === 'string' ? value : null;
};

/** The texts of a list of the metadata. */
export const metadataTexts = (metadata: Metadata, key: string): string[] => {
  const value = metadata.get(key);
  const values = isList(value) ? (value.values ?? []) : [];
  return values.filter((each) => typeof each === 'string');
};

/** The true and false values of a list of the metadata; null: it is no such list. */
export const metadataClaims = (metadata: Metadata, key: string): boolean[] | null => {
  const value = metadata.get(key);
  const values = isList(value) ? value.values : null;
  if (!values?.every((each) => typeof each !== 'string')) return null;
  return values.map(Boolean);
};

/** The number of values of a list of the metadata; null: it is no list. */
export const metadataLength = (metadata: Metadata, key: string): number | null => {
  const value = metadata.get(key);
  return isList(value) ? value.count : null;
};

const isList = (value: MetadataValue | undefined) => typeof value === 'object';
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
