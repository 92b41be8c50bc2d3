import Joi from 'joi';
import * as s from '../../kernel/contract/schema.js';

const MAX_DEPTH = 8;

const count = () => s.optional(s.integer(0, 1_000_000));

/**
 * Subset of JSON Schema (2020-12) for outputs. `pattern`, `$ref` and `if` are excluded, so that
 * validation is linear in the size of the output.
 */
const schemaAt = (depth: number): s.Schema => {
  const inner = depth < MAX_DEPTH ? s.lazy(() => schemaAt(depth + 1)) : Joi.forbidden();
  return Joi.object({
    type: Joi.alternatives().try(typeName, Joi.array().items(typeName).unique().min(1)),
    title: s.optional(s.anyText(200)),
    description: s.optional(s.anyText(2000)),
    enum: Joi.array().min(1).max(100),
    const: s.optional(s.json()),
    properties: Joi.object().pattern(Joi.string().max(100), inner).max(100),
    required: Joi.array().items(s.text(100)).unique().max(100),
    additionalProperties: s.optional(s.boolean()),
    items: inner,
    minItems: count(),
    maxItems: count(),
    minLength: count(),
    maxLength: count(),
    minimum: Joi.number().strict(),
    maximum: Joi.number().strict(),
    anyOf: Joi.array().items(inner).min(1).max(20),
  });
};

const typeName = Joi.string().valid(
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
);

export const outputSchema = s.lazy(() => schemaAt(0).label('OutputSchemaOfStage'));
