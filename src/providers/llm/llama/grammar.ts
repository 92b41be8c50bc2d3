import { isRecord, listAt, memberAt, textAt } from '../../../kernel/jsonvalue.js';
import type { ToolSpec } from '../model.js';
import type { GrammarSchema, LlamaFunctions } from './protocol.js';

/** Deeper parts of a schema may be any JSON. */
const DEEPEST = 12;
const SCALARS = ['string', 'number', 'integer', 'boolean', 'null'];
const FORMATS = ['date-time', 'time', 'date'];

const ANY: GrammarSchema = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
};

/** Arguments are constrained to their schema during generation. */
export const toLlamaFunctions = (tools: ToolSpec[]): LlamaFunctions =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => {
      const hasArguments = Object.keys(getSchemaProperties(inputSchema)).length > 0;
      const params = hasArguments ? grammarSchema(inputSchema, inputSchema) : undefined;
      return [name, { description, ...(params && { params }) }];
    }),
  );

/**
 * The grammar requires every property, so that an optional one may be null. Lengths and patterns
 * are left to the later check, because they make grammars large.
 */
const grammarSchema = (schema: unknown, root: unknown, depth = 0): GrammarSchema => {
  if (depth > DEEPEST || !isRecord(schema)) return ANY;
  const described = typeof schema.description === 'string' && { description: schema.description };
  return { ...bareSchema(schema, root, depth + 1), ...described };
};

const bareSchema = (
  schema: Record<string, unknown>,
  root: unknown,
  depth: number,
): GrammarSchema => {
  const converted = (each: unknown): GrammarSchema => grammarSchema(each, root, depth);
  if (typeof schema.$ref === 'string') return converted(referenced(schema.$ref, root));
  if (isScalar(schema.const)) return { const: schema.const };
  if (Array.isArray(schema.enum)) {
    return schema.enum.length > 0 && schema.enum.every(isScalar) ? { enum: schema.enum } : ANY;
  }
  const choices = [...listAt(schema, 'anyOf'), ...listAt(schema, 'oneOf')];
  if (choices.length > 0) return { oneOf: choices.map(converted) };
  const types = getSchemaTypes(schema);
  if (types.length > 1 && !types.every((type) => SCALARS.includes(type))) {
    return { oneOf: types.map((type) => converted({ ...schema, type })) };
  }
  if (types[0] === 'object') return objectSchema(schema, converted);
  if (types[0] === 'array') {
    return { type: 'array', ...(isRecord(schema.items) && { items: converted(schema.items) }) };
  }
  if (types[0] === 'string' && FORMATS.includes(textAt(schema, 'format') ?? '')) {
    return { type: 'string', format: schema.format };
  }
  if (types.length === 0 || !types.every((type) => SCALARS.includes(type))) return ANY;
  return { type: types.length === 1 ? types[0] : types };
};

const objectSchema = (
  schema: Record<string, unknown>,
  converted: (schema: unknown) => GrammarSchema,
): GrammarSchema => {
  const entries = Object.entries(getSchemaProperties(schema));
  if (entries.length === 0) return { type: 'object', additionalProperties: true };
  const properties = entries.map(([key, value]) => {
    const given = converted(value);
    if (isRequired(schema, key) || acceptsNull(value)) return [key, given];
    const { description, ...bare } = given;
    return [
      key,
      { oneOf: [bare, { type: 'null' }], ...(description !== undefined && { description }) },
    ];
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
};

/** Removes optional properties that are null only because of the grammar. */
export const removeNullFillers = (
  given: Record<string, unknown>,
  schema: unknown,
  root: unknown = schema,
): Record<string, unknown> => {
  const properties = getSchemaProperties(schema);
  const kept = Object.entries(given).filter(
    ([key, value]) =>
      value !== null || isRequired(schema, key) || acceptsNull(memberAt(properties, key)),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => [key, cleaned(value, memberAt(properties, key), root)]),
  );
};

const cleaned = (value: unknown, schema: unknown, root: unknown): unknown => {
  const ref = textAt(schema, '$ref');
  const followed = ref === null ? schema : referenced(ref, root);
  if (Array.isArray(value)) {
    return value.map((each) => cleaned(each, memberAt(followed, 'items'), root));
  }
  return isRecord(value) ? removeNullFillers(value, followed, root) : value;
};

const getSchemaProperties = (schema: unknown): Record<string, unknown> => {
  const properties = memberAt(schema, 'properties');
  return isRecord(properties) ? properties : {};
};

const isRequired = (schema: unknown, key: string): boolean =>
  listAt(schema, 'required').includes(key);

const acceptsNull = (schema: unknown): boolean =>
  isRecord(schema) &&
  (getSchemaTypes(schema).includes('null') ||
    schema.const === null ||
    listAt(schema, 'enum').includes(null) ||
    [...listAt(schema, 'anyOf'), ...listAt(schema, 'oneOf')].some(acceptsNull));

/** Objects and arrays are also recognized by their members. */
const getSchemaTypes = (schema: Record<string, unknown>): string[] => {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string');
  if (isRecord(schema.properties)) return ['object'];
  return isRecord(schema.items) ? ['array'] : [];
};

const referenced = (ref: string, root: unknown): unknown =>
  ref.startsWith('#/') ? memberAt(root, ...ref.slice(2).split('/')) : undefined;

const isScalar = (value: unknown): boolean =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);
