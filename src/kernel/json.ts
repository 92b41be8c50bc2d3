import Bourne from '@hapi/bourne';
import { isLarger } from './depth.js';
import { parseSpelled, roundedIn, scanJson } from './exactjson.js';
import { withoutMark } from './jsonvalue.js';

/**
 * The number of bytes above which JSON is parsed in a worker thread. That many block the event loop
 * for about 20 ms.
 */
export const LARGE_JSON_BYTES = 128 * 1024;

const DEEPEST = 64;
/** Ours: the most values in one JSON body. Checking more of them would delay all other requests. */
const MAX_VALUES = 20_000;

const TOO_MANY = `The JSON has more than ${MAX_VALUES} values`;

/** The JSON of a request's body, or in `fault` the message of the 400 reply. */
export type ParsedBody = { value: unknown } | { fault: string };

/**
 * Parses a request's body. Refuses `__proto__` keys, nesting over 64, more than 20,000 values, and
 * numbers that would be rounded, unless the endpoint keeps their digits.
 */
export const parseBody = (bytes: Uint8Array, keepsDigits = false): ParsedBody => {
  if (bytes.length === 0) return { value: null };
  if (hasManyCommas(bytes)) return { fault: TOO_MANY };
  const text = withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  const { isDeep, isExact } = scanJson(text, DEEPEST);
  if (isDeep) return { fault: `The JSON is nested more than ${DEEPEST} levels deep` };
  let value: unknown;
  try {
    value = Bourne.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { fault: 'Invalid request payload JSON format' };
  }
  if (isLarger(value, MAX_VALUES)) return { fault: TOO_MANY };
  if (isExact) return { value };
  const exact = parseSpelled(text);
  if (keepsDigits) return { value: exact };
  const rounded = roundedIn(exact);
  return rounded === null ? { value } : { fault: tooExact(rounded) };
};

const tooExact = ({ path, digits }: { path: string; digits: string }): string =>
  `${path}: the number ${digits.slice(0, MAX_SHOWN)} has too many digits. Send it as a string`;

const MAX_SHOWN = 60;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];

/**
 * True if there are commas between more values than a body may hold. This takes 2 ms of a megabyte,
 * and to parse 100,000 keys takes 140.
 */
const hasManyCommas = (bytes: Uint8Array): boolean => {
  let commas = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at++;
    else if (!isText && byte === COMMA && ++commas >= MAX_VALUES) return true;
  }
  return false;
};
