import type { Schema } from './contract/schema.js';

/** The part of JSON Schema (2020-12) that models and the API document need. */
export type JsonSchema = Record<string, unknown>;

/**
 * Converts a kernel schema to JSON Schema, which tells a model what input a tool accepts. Rules
 * that JSON Schema cannot express (custom ones, key patterns) are left out, so it may allow more
 * than the schema itself, never less. Throws on a joi type that the kernel does not use.
 */
export const jsonSchema = (schema: Schema): JsonSchema => convert(schema.describe());

/** The parts of joi's `describe()` that are read here. */
interface Described {
  type?: string;
  flags?: { description?: string; default?: unknown; only?: boolean; unknown?: boolean };
  /**
   * Values accepted in addition to the rules, or, with the flag `only`, the only accepted values.
   */
  allow?: unknown[];
  examples?: unknown[];
  rules?: { name: string; args?: { limit?: number; regex?: string } }[];
  keys?: Record<string, Described & { flags?: { presence?: string } }>;
  items?: Described[];
  patterns?: { rule: Described }[];
}

const convert = (described: Described): JsonSchema => {
  const { flags = {}, allow = [], examples } = described;
  const shape = flags.only ? { ...typeOf(described), enum: allow } : shapeOf(described);
  return {
    ...nullable(shape, allow.includes(null)),
    ...(flags.description && { description: flags.description }),
    ...(flags.default !== undefined && { default: flags.default }),
    ...(examples && { examples }),
  };
};

const typeOf = ({ type }: Described): JsonSchema => (type === 'any' ? {} : { type });

const nullable = (shape: JsonSchema, isNullable: boolean): JsonSchema =>
  isNullable && shape.type ? { ...shape, type: [shape.type, 'null'] } : shape;

const shapeOf = (described: Described): JsonSchema => {
  const shape = shapes[described.type ?? ''];
  if (!shape) throw new Error(`The joi type ${described.type} has no JSON Schema`);
  return { ...typeOf(described), ...shape(described) };
};

/**
 * Returns the pattern without the slashes that joi writes around it. A pattern with flags is left
 * out, because JSON Schema has none.
 */
const patternOf = (described: Described): JsonSchema => {
  const spelled = described.rules?.find((rule) => rule.name === 'pattern')?.args?.regex;
  const [, pattern] = /^\/(.*)\/$/s.exec(spelled ?? '') ?? [];
  return pattern === undefined ? {} : { pattern };
};

const objectOf = (described: Described): JsonSchema => {
  const keys = Object.entries(described.keys ?? {});
  const required = keys.filter(([, key]) => key.flags?.presence === 'required');
  return {
    properties: Object.fromEntries(keys.map(([name, key]) => [name, convert(key)])),
    required: required.map(([name]) => name),
    additionalProperties: othersOf(described),
    ...limits(described, 'minProperties', 'maxProperties'),
  };
};

/** Returns whether other keys are allowed, or the schema of their values. */
const othersOf = ({ patterns = [], flags }: Described): boolean | JsonSchema => {
  const [values, ...more] = patterns.map(({ rule }) => convert(rule));
  if (more.length > 0) return true;
  return values ?? flags?.unknown === true;
};

const limits = (described: Described, min: string, max: string): JsonSchema => {
  const limit = (name: string) => described.rules?.find((rule) => rule.name === name)?.args?.limit;
  const [least, most] = [limit('min'), limit('max')];
  return {
    ...(least !== undefined && { [min]: least }),
    ...(most !== undefined && { [max]: most }),
  };
};

/** The functions that make the schema of each type of joi that the kernel uses. */
const shapes: Record<string, (described: Described) => JsonSchema> = {
  any: () => ({}),
  boolean: () => ({}),
  string: (described) => ({
    // joi refuses empty text unless '' is allowed explicitly.
    ...(!described.allow?.includes('') && { minLength: 1 }),
    ...limits(described, 'minLength', 'maxLength'),
    ...patternOf(described),
  }),
  number: (described) => ({
    type: described.rules?.some((rule) => rule.name === 'integer') ? 'integer' : 'number',
    ...limits(described, 'minimum', 'maximum'),
  }),
  array: (described) => ({
    ...(described.items?.length === 1 && { items: described.items.map(convert)[0] }),
    ...limits(described, 'minItems', 'maxItems'),
  }),
  object: objectOf,
};
