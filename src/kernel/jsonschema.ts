import type { Schema } from './contract/schema.js';

export type JsonSchema = Record<string, unknown>;

/**
 * Rules without an equivalent (custom ones, key patterns) are left out, so the result may allow
 * more than the schema, never less. Throws for unknown joi types.
 */
export const jsonSchema = (schema: Schema): JsonSchema => convert(schema.describe());

interface Described {
  type?: string;
  flags?: { description?: string; default?: unknown; only?: boolean; unknown?: boolean };
  allow?: unknown[];
  examples?: unknown[];
  rules?: { name: string; args?: { limit?: number; regex?: string } }[];
  keys?: Record<string, Described & { flags?: { presence?: string } }>;
  items?: Described[];
  patterns?: { rule: Described }[];
}

const convert = (described: Described): JsonSchema => {
  const { flags = {}, allow = [], examples } = described;
  const shape = flags.only ? { ...convertType(described), enum: allow } : convertShape(described);
  return {
    ...nullable(shape, allow.includes(null)),
    ...(flags.description && { description: flags.description }),
    ...(flags.default !== undefined && { default: flags.default }),
    ...(examples && { examples }),
  };
};

const convertType = ({ type }: Described): JsonSchema => (type === 'any' ? {} : { type });

const nullable = (shape: JsonSchema, isNullable: boolean): JsonSchema =>
  isNullable && shape.type ? { ...shape, type: [shape.type, 'null'] } : shape;

const convertShape = (described: Described): JsonSchema => {
  const shape = shapes[described.type ?? ''];
  if (!shape) throw new Error(`The joi type ${described.type} has no JSON Schema`);
  return { ...convertType(described), ...shape(described) };
};

/**
 * joi writes slashes around patterns. Patterns with flags are left out, because JSON Schema has
 * none.
 */
const convertPattern = (described: Described): JsonSchema => {
  const spelled = described.rules?.find((rule) => rule.name === 'pattern')?.args?.regex;
  const [, pattern] = /^\/(.*)\/$/s.exec(spelled ?? '') ?? [];
  return pattern === undefined ? {} : { pattern };
};

const convertObject = (described: Described): JsonSchema => {
  const keys = Object.entries(described.keys ?? {});
  const required = keys.filter(([, key]) => key.flags?.presence === 'required');
  return {
    properties: Object.fromEntries(keys.map(([name, key]) => [name, convert(key)])),
    required: required.map(([name]) => name),
    additionalProperties: convertAdditionalProperties(described),
    ...limits(described, 'minProperties', 'maxProperties'),
  };
};

const convertAdditionalProperties = ({ patterns = [], flags }: Described): boolean | JsonSchema => {
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

const shapes: Record<string, (described: Described) => JsonSchema> = {
  any: () => ({}),
  boolean: () => ({}),
  string: (described) => ({
    // joi refuses empty text unless '' is allowed.
    ...(!described.allow?.includes('') && { minLength: 1 }),
    ...limits(described, 'minLength', 'maxLength'),
    ...convertPattern(described),
  }),
  number: (described) => ({
    type: described.rules?.some((rule) => rule.name === 'integer') ? 'integer' : 'number',
    ...limits(described, 'minimum', 'maximum'),
  }),
  array: (described) => ({
    ...(described.items?.length === 1 && { items: described.items.map(convert)[0] }),
    ...limits(described, 'minItems', 'maxItems'),
  }),
  object: convertObject,
};
