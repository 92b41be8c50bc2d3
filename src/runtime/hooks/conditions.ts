import { isNativeError } from 'node:util/types';
import { type Context, createContext, Script } from 'node:vm';
import { lookUp, type TemplateScope } from './template.js';

export interface Condition {
  /** A template path without braces: `webhook.body.action`. */
  field: string;
  operator: 'equals' | 'not_equals' | 'contains' | 'matches' | 'exists' | 'gt' | 'lt' | 'in';
  value?: unknown;
}

const LONGEST_PATTERN = 300;
const LONGEST_MATCHED = 10_000;
const MATCHING_MS = 25;

/** A pattern that takes for ever on a payload; another try may find the machine less busy. */
export class PatternTooSlow extends Error {
  override name = 'PatternTooSlow';
}

/** The sentence that says which condition stopped it, or null when all hold. PatternTooSlow. */
export const stoppedBy = (conditions: Condition[], scope: TemplateScope): string | null => {
  for (const [index, condition] of conditions.entries()) {
    const found = lookUp(scope, condition.field);
    if (!holds(condition, found)) return `condition ${index + 1}: ${describe(condition, found)}`;
  }
  return null;
};

const holds = ({ operator, value }: Condition, found: unknown): boolean => {
  switch (operator) {
    case 'equals':
      return isEqual(found, value);
    case 'not_equals':
      return !isEqual(found, value);
    case 'contains':
      return Array.isArray(found)
        ? found.some((each) => isEqual(each, value))
        : typeof found === 'string' && found.includes(String(value));
    case 'matches':
      return typeof found === 'string' && isMatch(compile(value), found.slice(0, LONGEST_MATCHED));
    case 'exists':
      return (found !== undefined) === (value !== false);
    case 'gt':
      return typeof found === 'number' && typeof value === 'number' && found > value;
    case 'lt':
      return typeof found === 'number' && typeof value === 'number' && found < value;
    case 'in':
      return Array.isArray(value) && value.some((each) => isEqual(found, each));
  }
};

const isEqual = (a: unknown, b: unknown): boolean =>
  a === b || (a !== undefined && JSON.stringify(a) === JSON.stringify(b));

const compile = (pattern: unknown): RegExp => new RegExp(String(pattern), 'u');

const matching = new Script('pattern.test(text)');
let ground: Context | null = null;

/** Payloads come from strangers, and many a pattern takes for ever on a text chosen for it. */
const isMatch = (pattern: RegExp, text: string): boolean => {
  ground ??= createContext();
  try {
    return matching.runInContext(Object.assign(ground, { pattern, text }), {
      timeout: MATCHING_MS,
    });
  } catch (error) {
    // The time-out, or the regular expression's stack: errors of the script's own realm.
    if (!isNativeError(error)) throw error;
    throw new PatternTooSlow(`/${pattern.source}/ takes over ${MATCHING_MS} ms on this payload`);
  }
};

const describe = ({ field, operator, value }: Condition, found: unknown): string => {
  const name = field.replace(/^webhook\.body\./, '');
  if (found === undefined) return `${name} is missing`;
  if (operator === 'exists') return `${name} is there`;
  return `${name} is ${short(found)}, not ${operator} ${short(value)}`;
};

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

/** Why a pattern cannot be used, or null. */
export const faultOfPattern = (pattern: unknown): string | null => {
  if (typeof pattern !== 'string' || pattern.length > LONGEST_PATTERN)
    return `a pattern of at most ${LONGEST_PATTERN} characters`;
  try {
    compile(pattern);
    return null;
  } catch {
    return 'a valid regular expression';
  }
};
