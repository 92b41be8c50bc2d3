import { isNativeError } from 'node:util/types';
import { type Context, createContext, Script } from 'node:vm';
import type { Condition } from '../kernel/contract/condition.js';
import { isDeeper } from '../kernel/depth.js';
import { compareNumbers, isAnyNumber } from '../kernel/exactjson.js';
import { jsonPrefix } from '../kernel/jsonprefix.js';
import { Comparison, TimeLimitSpent } from './compare.js';
import { isAbsent, lookUp } from './template.js';
import { CONDITIONS_MS, createTimeLimit, type TimeLimit } from './timelimit.js';

export type ConditionVerdict =
  | { verdict: 'hold' }
  | { verdict: 'stopped'; reason: string }
  | { verdict: 'error'; reason: string };

const MAX_PATTERN_LENGTH = 300;
const MAX_MATCHED_LENGTH = 10_000;
/** In bytes; also for each entry of a list. */
const MAX_VALUE_LENGTH = 4096;
const MAX_LIST = 1000;
/** Levels of lists and objects. */
const MAX_VALUE_DEPTH = 16;
const SHOWN = 80;

export const judgeConditions = (
  conditions: Condition[],
  scope: object,
  timeLimit: TimeLimit = createTimeLimit(CONDITIONS_MS),
): ConditionVerdict => {
  const comparison = new Comparison(timeLimit);
  for (const [index, condition] of conditions.entries()) {
    const name = `condition ${index + 1}`;
    const fault = faultOfValue(condition);
    if (fault !== null) {
      return { verdict: 'error', reason: `${name}: value must be ${fault}. Change the condition` };
    }
    const found = lookUp(scope, condition.field);
    try {
      if (holds(condition, found, comparison)) continue;
    } catch (error) {
      if (!(error instanceof TimeLimitSpent)) throw error;
      const what = condition.operator === 'matches' ? ` /${condition.value}/` : '';
      const reason = `${name}:${what} takes more than ${CONDITIONS_MS} ms on this payload`;
      return { verdict: 'error', reason };
    }
    return { verdict: 'stopped', reason: `${name}: ${describe(condition, found)}` };
  }
  return { verdict: 'hold' };
};

const holds = (
  { field, operator, value }: Condition,
  found: unknown,
  comparison: Comparison,
): boolean => {
  const { timeLimit } = comparison;
  if (timeLimit.isSpent()) throw new TimeLimitSpent();
  switch (operator) {
    case 'equals':
      return comparison.isEqual(found, value);
    case 'not_equals':
      return !comparison.isEqual(found, value);
    case 'contains':
      return Array.isArray(found)
        ? comparison.isAmong(found, value)
        : typeof found === 'string' && isPlain(value) && comparison.holdsText(found, `${value}`);
    case 'matches':
      return (
        typeof found === 'string' &&
        isMatch(compile(value), found.slice(0, MAX_MATCHED_LENGTH), timeLimit)
      );
    case 'exists':
      return isMissing(field, found) === (value === false);
    case 'gt':
      return isAnyNumber(found) && isAnyNumber(value) && compareNumbers(found, value) > 0;
    case 'lt':
      return isAnyNumber(found) && isAnyNumber(value) && compareNumbers(found, value) < 0;
    case 'in':
      return Array.isArray(value) && comparison.isOneOf(found, value);
  }
};

const isMissing = (field: string, found: unknown): boolean =>
  found === undefined || isAbsent(field, found);

/** Texts are compared separately, and converting an object to text may throw. */
const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

const compile = (pattern: unknown): RegExp => new RegExp(String(pattern), 'u');

const matching = new Script('pattern.test(text)');
let ground: Context | null = null;

/** Payloads are untrusted, and many patterns take almost unlimited time on a crafted text. */
const isMatch = (pattern: RegExp, text: string, timeLimit: TimeLimit): boolean => {
  ground ??= createContext();
  try {
    return matching.runInContext(Object.assign(ground, { pattern, text }), {
      timeout: timeLimit.left(),
    });
  } catch (error) {
    // Either the timeout, or a stack overflow of the regular expression in the realm of the script.
    if (!isNativeError(error)) throw error;
    if (timeLimit.isSpent()) throw new TimeLimitSpent();
    return isMatch(pattern, text, timeLimit);
  }
};

const describe = ({ field, operator, value }: Condition, found: unknown): string => {
  const name = field.replace(/^webhook\.body\./, '');
  if (isMissing(field, found)) return `${name} is missing`;
  if (operator === 'exists') return `${name} exists`;
  return `${name} is ${short(found)}, not ${operator} ${short(value)}`;
};

const short = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : jsonPrefix(value, SHOWN);
  return text.length > SHOWN ? `${text.slice(0, SHOWN - 1)}…` : text;
};

export const faultOfValue = ({ operator, value }: Condition): string | null => {
  if (operator === 'matches') return faultOfPattern(value);
  const long = faultOfLength(operator, value);
  if (long !== null) return long;
  const isDeep = typeof value === 'object' && value !== null && isDeeper(value, MAX_VALUE_DEPTH);
  return isDeep ? `nested at most ${MAX_VALUE_DEPTH} levels deep` : null;
};

const faultOfLength = (operator: Condition['operator'], value: unknown): string | null => {
  if (!Array.isArray(value)) return isLong(value) ? 'at most 4 KiB long' : null;
  if (value.length > MAX_LIST) return `a list of at most ${MAX_LIST} entries`;
  const isOne = operator === 'in' ? value.some(isLong) : isLong(value);
  return isOne ? 'a list whose entries are at most 4 KiB long' : null;
};

/** Texts are measured by their own bytes, other values as JSON. */
const isLong = (value: unknown): boolean => {
  const text = typeof value === 'string' ? value : jsonPrefix(value, MAX_VALUE_LENGTH);
  return text.length > MAX_VALUE_LENGTH || Buffer.byteLength(text) > MAX_VALUE_LENGTH;
};

const faultOfPattern = (pattern: unknown): string | null => {
  if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN_LENGTH)
    return `a pattern of at most ${MAX_PATTERN_LENGTH} characters`;
  try {
    compile(pattern);
    return null;
  } catch {
    return 'a valid regular expression';
  }
};
