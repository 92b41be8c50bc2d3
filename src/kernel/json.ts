import Bourne from '@hapi/bourne';
import { isDeeper, isLarger } from './depth.js';

/** Bytes over which JSON is parsed in a worker thread: so much takes the event loop some 20 ms. */
export const LARGE_JSON_BYTES = 128 * 1024;

const DEEPEST = 64;
/** Ours: in one JSON body; looking at more of them would hold everybody else up. */
const MOST_VALUES = 20_000;

/** The JSON of a request's body; `fault` is the sentence of the 400 that it gets instead. */
export type ParsedBody = { value: unknown } | { fault: string };

/** Parses a request's body: no `__proto__` keys, no nesting over 64, at most 20,000 values. */
export const parseBody = (bytes: Uint8Array): ParsedBody => {
  if (bytes.length === 0) return { value: null };
  let value: unknown;
  try {
    value = Bourne.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { fault: 'Invalid request payload JSON format' };
  }
  const fault = faultOfSize(value);
  return fault === null ? { value } : { fault };
};

const faultOfSize = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null) return null;
  if (isLarger(value, MOST_VALUES)) return `JSON holds over ${MOST_VALUES} values`;
  return isDeeper(value, DEEPEST) ? `JSON is nested over ${DEEPEST} deep` : null;
};
