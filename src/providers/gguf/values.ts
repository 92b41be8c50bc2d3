import type { Metadata, MetadataValue } from './metadata.js';

/** Non-negative; the first of a list; else null. */
export const metadataNumber = (metadata: Metadata, key: string): number | null => {
  const value = metadata.get(key);
  const single = isList(value) ? value.values?.[0] : value;
  return isCount(single) ? single : null;
};

/** One per layer; null: not stated. */
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

export const metadataText = (metadata: Metadata, key: string): string | null => {
  const value = metadata.get(key);
  return typeof value === 'string' ? value : null;
};

const MAX_LINE_LENGTH = 200;

/** For display. Omits control characters and what changes the direction of the text. */
export const metadataLine = (metadata: Metadata, key: string): string | null =>
  shownLine(metadataText(metadata, key) ?? '') || null;

const shownLine = (text: string): string =>
  text
    .slice(0, MAX_LINE_LENGTH)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ')
    .trim();

export const metadataTexts = (metadata: Metadata, key: string): string[] => {
  const value = metadata.get(key);
  const values = isList(value) ? (value.values ?? []) : [];
  return values.filter((each) => typeof each === 'string').map(shownLine);
};

export const metadataClaims = (metadata: Metadata, key: string): boolean[] | null => {
  const value = metadata.get(key);
  const values = isList(value) ? value.values : null;
  if (!values?.every((each) => typeof each !== 'string')) return null;
  return values.map(Boolean);
};

export const metadataLength = (metadata: Metadata, key: string): number | null => {
  const value = metadata.get(key);
  return isList(value) ? value.count : null;
};

const isList = (value: MetadataValue | undefined) => typeof value === 'object';
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
