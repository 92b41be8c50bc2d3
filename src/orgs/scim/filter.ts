import Boom from '@hapi/boom';
import { type RawBuilder, sql } from 'kysely';

export type FilterCondition = RawBuilder<boolean>;
type Value = string | number | boolean | null;

const isValue = (value: unknown): value is Value =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

/** FilterCondition of one comparison. `path` is in lower case, with dots. */
export type Compare = (path: string, operator: Operator, value: Value) => FilterCondition;

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;
export type Operator = (typeof OPERATORS)[number];

const MAX_LENGTH = 4000;
const MAX_COMPARISONS = 100;
const MAX_DEPTH = 10;
const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y;
const SCHEMA = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

export const normalizePath = (path: string): string => path.toLowerCase().replace(SCHEMA, '');

export const scimFault = (scimType: string, message: string): Boom.Boom =>
  Boom.badRequest(message, { scimType });

/**
 * Translates a filter (RFC 7644, 3.4.2.2) to SQL in linear time. The library scimmy takes
 * exponential time for a row of backslashes and for several groups.
 */
export const parseFilter = (text: string, compare: Compare): FilterCondition => {
  const tokens = tokenize(text);
  let at = 0;
  let comparisons = 0;
  const next = (): string => tokens[at++] ?? '';
  const isNext = (word: string): boolean => tokens[at]?.toLowerCase() === word;
  const expect = (word: string): void => {
    if (next() !== word) throw invalid(`"${word}" is missing`);
  };

  const either = (prefix: string, depth: number): FilterCondition => {
    if (depth > MAX_DEPTH) throw invalid(`it is nested more than ${MAX_DEPTH} levels deep`);
    let left = both(prefix, depth);
    while (isNext('or')) {
      at++;
      left = sql`(${left} OR ${both(prefix, depth)})`;
    }
    return left;
  };
  const both = (prefix: string, depth: number): FilterCondition => {
    let left = factor(prefix, depth);
    while (isNext('and')) {
      at++;
      left = sql`(${left} AND ${factor(prefix, depth)})`;
    }
    return left;
  };
  const group = (prefix: string, depth: number, end: string): FilterCondition => {
    const inner = either(prefix, depth + 1);
    expect(end);
    return inner;
  };
  const factor = (prefix: string, depth: number): FilterCondition => {
    const word = next();
    if (word === '(') return group(prefix, depth, ')');
    if (word.toLowerCase() === 'not' && isNext('(')) {
      at++;
      return sql`NOT coalesce(${group(prefix, depth, ')')}, 0)`;
    }
    if (!/^[a-z$]/i.test(word)) throw invalid(`an attribute is missing before "${word}"`);
    const path = prefix + normalizePath(word);
    if (!isNext('[')) return comparison(path);
    at++;
    const inner = group(`${path}.`, depth, ']');
    const rest = tokens[at] ?? '';
    if (!rest.startsWith('.')) return inner;
    at++;
    return sql`(${inner} AND ${comparison(path + rest.toLowerCase())})`;
  };
  const comparison = (path: string): FilterCondition => {
    if (++comparisons > MAX_COMPARISONS) {
      throw invalid(`it has more than ${MAX_COMPARISONS} comparisons`);
    }
    const word = next().toLowerCase();
    const operator = OPERATORS.find((each) => each === word);
    if (!operator) throw invalid(`"${word}" is not an operator`);
    return compare(path, operator, operator === 'pr' ? null : parseValue(next()));
  };

  const condition = either('', 0);
  if (at < tokens.length) throw invalid(`"${tokens[at]}" is unexpected`);
  return condition;
};

const tokenize = (text: string): string[] => {
  if (text.length > MAX_LENGTH) throw invalid(`it has more than ${MAX_LENGTH} characters`);
  const tokens: string[] = [];
  const given = text.trim();
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < given.length; ) {
    const found = TOKEN.exec(given);
    if (!found) throw invalid('a quotation mark is missing');
    tokens.push(found[1] ?? found[2] ?? found[3] ?? '');
  }
  return tokens;
};

const parseValue = (token: string): Value => {
  const isWord = /^(true|false|null)$/i.test(token);
  try {
    const value: unknown = JSON.parse(isWord ? token.toLowerCase() : token);
    if (isValue(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw invalid(`"${token}" is not a value. Put texts into quotation marks`);
};

const invalid = (reason: string): Boom.Boom =>
  scimFault('invalidFilter', `The filter is invalid: ${reason}`);

/** A column that an attribute is stored in, or an expression of it. */
export interface Attribute {
  of: RawBuilder<unknown>;
  /** Of values and, if the column is not in normal form itself, of the column. */
  kind: 'exact' | 'key' | 'text' | 'boolean' | 'time';
}

export const createCompare =
  (attributes: Record<string, Attribute>, keyOf: (text: string) => string): Compare =>
  (path, operator, given) => {
    const attribute = Object.hasOwn(attributes, path) ? attributes[path] : undefined;
    const { of, kind } = attribute ?? { of: sql`NULL`, kind: 'exact' as const };
    const value = normalizeValue(kind, given, keyOf);
    const column = kind === 'text' ? sql`lower(${of})` : of;
    const text = String(value ?? '');
    switch (operator) {
      case 'pr':
        return sql`${of} IS NOT NULL`;
      case 'eq':
        // Not `IS`, which does not use a partial index.
        return value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`;
      case 'ne':
        return sql`${column} IS NOT ${value}`;
      case 'co':
        return sql`instr(${column}, ${text}) > 0`;
      case 'sw':
        return sql`substr(${column}, 1, length(${text})) = ${text}`;
      case 'ew':
        return sql`substr(${column}, max(1, length(${column}) + 1 - length(${text}))) = ${text}`;
      default:
        return sql`${column} ${sql.raw(ORDER[operator])} ${value}`;
    }
  };

const ORDER = { gt: '>', ge: '>=', lt: '<', le: '<=' };

const normalizeValue = (
  kind: Attribute['kind'],
  value: Value,
  keyOf: (text: string) => string,
): Value => {
  if (kind === 'boolean') return /^true$/i.test(String(value)) ? 1 : 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return value;
  if (kind === 'key') return keyOf(value);
  if (kind === 'text') return asciiLower(value);
  if (kind !== 'time') return value;
  const at = Date.parse(value);
  if (Number.isNaN(at)) throw invalid(`"${value}" is not a time`);
  return new Date(at).toISOString();
};

/** As `lower` of SQLite does it. */
const asciiLower = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
