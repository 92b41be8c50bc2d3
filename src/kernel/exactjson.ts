import {
  compareLosslessNumber,
  isLosslessNumber,
  isNumber,
  LosslessNumber,
  stringify,
} from 'lossless-json';
import { endOfString } from './depth.js';

/**
 * Numbers that JSON.stringify would write differently, such as `1.10` or integers above 2^53,
 * become an `ExactNumber`. Throws SyntaxError.
 */
export const parseExact = (text: string): unknown => JSON.parse(text, reviverFor(text));

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** For JSON.parse. Undefined if all numbers are exact, because a reviver takes ten times as long. */
export const reviverFor = (text: string): Reviver | undefined =>
  hasInexactNumber(text) ? keepDigits : undefined;

const keepDigits: Reviver = (_, value, { source = '' } = {}) =>
  typeof value === 'number' && !isKept(source) ? new ExactNumber(source) : value;

/** Missing in the types of TypeScript. */
const rawJson: (text: string) => object = Reflect.get(JSON, 'rawJSON');

/** JSON.stringify writes its digits, too. */
export class ExactNumber extends LosslessNumber {
  toJSON(): object {
    return rawJson(this.value);
  }
}

export const isExactNumber = (value: unknown): value is ExactNumber => isLosslessNumber(value);

export const parseWithDigits = (text: string): unknown => JSON.parse(text, keepDigits);

const isKept = (digits: string): boolean => String(Number(digits)) === digits;

export const stringifyExact = (value: unknown, indent?: number): string | undefined =>
  hasExactNumber(value)
    ? stringify(value, undefined, indent)
    : JSON.stringify(value, undefined, indent);

export const withoutExactNumbers = (value: unknown): unknown => {
  if (isExactNumber(value)) return isRounded(value.value) ? value.value : Number(value.value);
  if (!hasExactNumber(value)) return value;
  if (Array.isArray(value)) return value.map(withoutExactNumbers);
  return Object.fromEntries(
    Object.entries(Object(value)).map(([key, each]) => [key, withoutExactNumbers(each)]),
  );
};

const hasExactNumber = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return isExactNumber(value) || Object.values(value).some(hasExactNumber);
};

export const compareNumbers = (a: number | ExactNumber, b: number | ExactNumber): number => {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return compareLosslessNumber(toExactNumber(a), toExactNumber(b));
};

const toExactNumber = (value: number | ExactNumber): ExactNumber =>
  typeof value === 'number' ? new ExactNumber(String(value)) : value;

export const isAnyNumber = (value: unknown): value is number | ExactNumber =>
  (typeof value === 'number' && Number.isFinite(value)) || isExactNumber(value);

/**
 * The first number that a double rounds to another integer or cannot represent, with its path.
 * Decimals may be lost.
 */
export const roundedIn = (
  value: unknown,
  path: string[] = [],
): { path: string; digits: string } | null => {
  if (isExactNumber(value)) {
    return isRounded(value.value) ? { path: path.join('.'), digits: value.value } : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, each] of Object.entries(value)) {
    const found = roundedIn(each, [...path, key]);
    if (found) return found;
  }
  return null;
};

export const isRounded = (digits: string): boolean => {
  if (!isNumber(digits)) return false;
  const number = Number(digits);
  if (!Number.isFinite(number)) return true;
  return (
    Number.isInteger(number) &&
    compareLosslessNumber(new LosslessNumber(digits), new LosslessNumber(String(number))) !== 0
  );
};

const [MINUS, DOT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39];
const [UPPER_E, LOWER_E, PLUS, QUOTE] = [0x45, 0x65, 0x2b, 0x22];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** A double keeps integers up to this many digits. */
const KEPT_DIGITS = 15;

export interface JsonScan {
  isDeep: boolean;
  isExact: boolean;
}

export const scanJson = (text: string, depth: number): JsonScan => {
  let open = 0;
  let isExact = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++open > depth) return { isDeep: true, isExact };
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) open--;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      isExact &&= isPlainInteger(text, at, end) || isKept(text.slice(at, end));
      at = end - 1;
    }
  }
  return { isDeep: false, isExact };
};

export const hasInexactNumber = (text: string): boolean =>
  !scanJson(text, Number.POSITIVE_INFINITY).isExact;

const endOfNumber = (text: string, start: number): number => {
  let end = start + 1;
  while (isPartOfNumber(text.charCodeAt(end))) end++;
  return end;
};

const isPlainInteger = (text: string, start: number, end: number): boolean => {
  const first = text.charCodeAt(start);
  if (end - start === 1) return first >= ZERO;
  if (end - start > KEPT_DIGITS || first <= ZERO) return false;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) return false;
  }
  return true;
};

const isPartOfNumber = (code: number): boolean =>
  (code >= ZERO && code <= NINE) ||
  code === DOT ||
  code === LOWER_E ||
  code === UPPER_E ||
  code === PLUS ||
  code === MINUS;
