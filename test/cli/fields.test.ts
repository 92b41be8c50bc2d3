import { Readable } from 'node:stream';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { CliFault } from '../../cli/exit.js';
import { flagNamer, requestFields, requestFrom, typedValue } from '../../cli/fields.js';
import {
  boolean,
  ignoreReadOnly,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  text,
} from '../../src/kernel/contract/schema.js';

export const lab = Lab.script();
const { describe, it } = lab;

const Thing = ignoreReadOnly(
  object('Thing', {
    name: text(10).description('What it is called'),
    kind: oneOf('Kind', 'small', 'big'),
    tags: optional(list(text(5))),
    isOpen: optional(boolean()),
    limit: optional(nullable(integer(1, 9))),
    first: object('First', { path: optional(text(5)), secret: optional(text(5)) }),
    second: optional(object('Second', { path: optional(text(5)), data: optional(json()) })),
  }),
  'id',
);
const fields = requestFields(Thing, ['first.secret']);
const at = {
  ...{ command: 'things create', flagOf: flagNamer(fields) },
  stdin: Readable.from([]),
};
const field = (name: string) => {
  const found = fields.find((each) => each.name === name);
  if (!found) throw new Error(`No field ${name}`);
  return found;
};

describe('requestFields', () => {
  it('makes one flag for each field that may be given', () => {
    expect(fields.map(({ name, kind, isNeeded }) => [name, kind, isNeeded])).to.equal([
      ['name', 'text', true],
      ['kind', 'text', true],
      ['tags', 'list', false],
      ['is-open', 'flag', false],
      ['limit', 'number', false],
      ['first.path', 'text', false],
      ['second.path', 'text', false],
      ['data', 'json', false],
    ]);
  });

  it('keeps the long name, the values and the description', () => {
    expect(field('data').longName).to.equal('second.data');
    expect(field('kind').values).to.equal(['small', 'big']);
    expect(field('name').about).to.equal('What it is called');
  });
});

describe('flagNamer', () => {
  it('names the flag of a list, and flags of the command itself', () => {
    const name = flagNamer(fields, ['account', 'textFile']);
    expect(['tags.0', 'first.path', 'accountId', 'other.0', ''].map(name)).to.equal([
      ...['--tags', '--first.path', '--account', 'other.0', 'the request'],
    ]);
  });
});

describe('typedValue', () => {
  it('reads numbers, null and JSON, and leaves text alone', () => {
    expect(typedValue(field('limit'), '5')).to.equal(5);
    expect(typedValue(field('limit'), 'null')).to.be.null();
    expect(typedValue(field('limit'), 'five')).to.equal('five');
    expect(typedValue(field('data'), '[1]')).to.equal([1]);
    expect(typedValue(field('name'), '5')).to.equal('5');
    expect(typedValue(field('name'), ' a  b ')).to.equal('a  b');
    expect(typedValue(field('name'), '  a\n  b\n')).to.equal('  a\n  b\n');
  });

  it('refuses what is no JSON where JSON is due', () => {
    expect(() => typedValue(field('data'), '{')).to.throw(CliFault, /^--data is not valid JSON/);
  });
});

describe('requestFrom', () => {
  it('sets flags by their path, over the whole that was given', async () => {
    const data = '{"name":"a","kind":"big","first":{"path":"x"}}';
    const filled = { data, fields: { 'first.path': 'y', 'second.data': 1 }, more: { name: 'b' } };
    expect(await requestFrom(Thing, filled, at)).to.equal({
      name: 'b',
      kind: 'big',
      first: { path: 'y' },
      second: { data: 1 },
    });
  });

  it('keeps a field for which another source has no value', async () => {
    const filled = {
      fields: { name: 'a', kind: 'big', 'first.path': 'x' },
      more: { name: undefined },
    };
    const { name } = await requestFrom<{ name?: string }>(Thing, filled, at);
    expect(name).to.equal('a');
  });

  it('reads - from the input that it is given', async () => {
    const stdin = Readable.from(['{"name":"a",', '"kind":"big","first":{"path":"x"},"second":{}}']);
    const given = { data: '-', fields: { 'second.data': 1 } };
    expect(await requestFrom(Thing, given, { ...at, stdin })).to.equal({
      ...{ name: 'a', kind: 'big', first: { path: 'x' }, second: { data: 1 } },
    });
  });

  it('names every wrong field by its flag, with what was given', async () => {
    const given = { fields: { kind: 'huge', limit: 12, 'second.path': 'too long' } };
    const fault = await requestFrom(Thing, given, at).catch((caught: unknown) => caught);
    expect(fault).to.be.an.error(CliFault, 'Invalid request: 4 fields are invalid.');
    expect(fault instanceof CliFault && fault.next).to.equal([
      '  --name         is missing',
      '  --kind         must be one of [small, big] (got "huge")',
      '  --limit        must be less than or equal to 9 (got "12")',
      '  --second.path  length must be less than or equal to 5 characters long (got "too long")',
      'Help: adjutant things create --help',
    ]);
  });

  it('refuses data that is no object, and a file that is not there', async () => {
    for (const data of ['[1]', 'null', '{', '@/nowhere/at/all']) {
      const fault = await requestFrom(Thing, { data, fields: {} }, at).catch((e: unknown) => e);
      expect(fault).to.be.an.error(CliFault, /--data/);
    }
  });
});
