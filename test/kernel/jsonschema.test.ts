import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Joi from 'joi';
import {
  anyText,
  boolean,
  integer,
  json,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  text,
} from '../../src/kernel/contract/schema.js';
import { jsonSchema } from '../../src/kernel/jsonschema.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('jsonSchema', () => {
  it('says what a text must be', () => {
    expect(jsonSchema(text(40))).to.equal({ type: 'string', minLength: 1, maxLength: 40 });
    expect(jsonSchema(anyText(9))).to.equal({ type: 'string', maxLength: 9 });
    expect(
      jsonSchema(
        text(9)
          .min(3)
          .pattern(/^a\/b$/),
      ),
    ).to.equal({
      type: 'string',
      minLength: 3,
      maxLength: 9,
      pattern: '^a\\/b$',
    });
  });

  it('leaves out what JSON Schema cannot say', () => {
    const loose = Joi.string()
      .pattern(/^a$/i)
      .custom((value) => value);
    expect(jsonSchema(loose)).to.equal({ type: 'string', minLength: 1 });
    expect(jsonSchema(Joi.array().items(text(), boolean()))).to.equal({ type: 'array' });
  });

  it('says what a number and a flag must be', () => {
    expect(jsonSchema(integer(1, 5))).to.equal({ type: 'integer', minimum: 1, maximum: 5 });
    expect(jsonSchema(number(0, 0.5))).to.equal({ type: 'number', minimum: 0, maximum: 0.5 });
    expect(jsonSchema(boolean())).to.equal({ type: 'boolean' });
  });

  it('lists the words of an enum', () => {
    expect(jsonSchema(oneOf('Mode', 'on', 'off'))).to.equal({
      type: 'string',
      enum: ['on', 'off'],
    });
    expect(jsonSchema(nullable(oneOf('Mode', 'on')))).to.equal({
      type: ['string', 'null'],
      enum: ['on', null],
    });
    expect(jsonSchema(Joi.any().valid(1, 'a'))).to.equal({ enum: [1, 'a'] });
  });

  it('lets null through where it is let through', () => {
    expect(jsonSchema(nullable(integer(0, 1)))).to.equal({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 1,
    });
    expect(jsonSchema(nullable(json()))).to.equal({});
  });

  it('bounds a list and describes its items', () => {
    expect(jsonSchema(list(integer(0, 9), 3).min(1))).to.equal({
      type: 'array',
      items: { type: 'integer', minimum: 0, maximum: 9 },
      minItems: 1,
      maxItems: 3,
    });
    expect(jsonSchema(Joi.array())).to.equal({ type: 'array' });
  });

  it('names the keys of an object, which of them are required, and refuses others', () => {
    const nested = object('Inner', { flag: boolean() });
    const outer = object('Outer', { name: text(5).description('What it is called'), nested });
    const shape = jsonSchema(object('All', { outer, note: optional(text(7)) }));
    expect(shape).to.equal({
      type: 'object',
      properties: {
        outer: {
          type: 'object',
          properties: {
            name: { type: 'string', minLength: 1, maxLength: 5, description: 'What it is called' },
            nested: {
              type: 'object',
              properties: { flag: { type: 'boolean' } },
              required: ['flag'],
              additionalProperties: false,
            },
          },
          required: ['name', 'nested'],
          additionalProperties: false,
        },
        note: { type: 'string', minLength: 1, maxLength: 7 },
      },
      required: ['outer'],
      additionalProperties: false,
    });
  });

  it('tells what other keys may hold', () => {
    const open = { type: 'object', properties: {}, required: [] };
    expect(jsonSchema(record('Any'))).to.equal({ ...open, additionalProperties: true });
    const headers = Joi.object().pattern(/^x-/, text(3));
    expect(jsonSchema(headers.max(2))).to.equal({
      ...open,
      additionalProperties: { type: 'string', minLength: 1, maxLength: 3 },
      maxProperties: 2,
    });
    const mixed = headers.pattern(/^y-/, boolean());
    expect(jsonSchema(mixed)).to.equal({ ...open, additionalProperties: true });
  });

  it('carries defaults, examples and descriptions', () => {
    const zone = text(60).default('UTC').example('Europe/Berlin').description('A time zone');
    expect(jsonSchema(zone)).to.equal({
      type: 'string',
      minLength: 1,
      maxLength: 60,
      description: 'A time zone',
      default: 'UTC',
      examples: ['Europe/Berlin'],
    });
  });

  it('throws on a joi type that it does not know', () => {
    expect(() => jsonSchema(Joi.date())).to.throw('The joi type date has no JSON Schema');
  });
});
