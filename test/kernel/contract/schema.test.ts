import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import * as schema from '../../../src/kernel/contract/schema.js';

export const lab = Lab.script();
const { describe, it } = lab;

const { boolean, ignoreReadOnly, integer, nullable, object, oneOf, optional, partial } = schema;
const { reason, stripUnknownKeys, text } = schema;
const Thing = object('Thing', { name: text(5), size: integer(1, 9), note: optional(text(5)) });

const errorsOf = (of: schema.Schema, value: unknown): string[] =>
  of.validate(value, { abortEarly: false }).error?.details.map(({ path }) => path.join('.')) ?? [];

describe('object', () => {
  it('requires every key that is not optional', () => {
    expect(errorsOf(Thing, { name: 'a', size: 1 })).to.equal([]);
    expect(errorsOf(Thing, {})).to.equal(['name', 'size']);
  });

  it('refuses unknown keys by name', () => {
    expect(errorsOf(Thing, { name: 'a', size: 1, role: 'admin' })).to.equal(['role']);
  });

  it('converts no types', () => {
    expect(errorsOf(Thing, { name: 1, size: '1', note: null })).to.equal(['name', 'size', 'note']);
    expect(errorsOf(boolean(), 'true')).to.equal(['']);
  });

  it('holds text and numbers to their bounds', () => {
    expect(errorsOf(Thing, { name: '', size: 0 })).to.equal(['name', 'size']);
    expect(errorsOf(Thing, { name: 'abcdef', size: 10 })).to.equal(['name', 'size']);
    expect(errorsOf(Thing, { name: 'abc', size: 1.5 })).to.equal(['size']);
  });
});

describe('partial', () => {
  it('asks for one key at least', () => {
    const Changes = partial('Changes', Thing);
    expect(errorsOf(Changes, { size: 2 })).to.equal([]);
    expect(errorsOf(Changes, {})).to.equal(['']);
    expect(errorsOf(Changes, { size: 'x' })).to.equal(['size']);
  });
});

describe('ignoring', () => {
  it('drops the read-only fields that it names, and no others', () => {
    const Changes = ignoreReadOnly(Thing, 'id');
    const { value } = Changes.validate({ name: 'a', size: 1, id: 'thing_1' });
    expect(value).to.equal({ name: 'a', size: 1 });
    expect(errorsOf(Changes, { name: 'a', size: 1, role: 'x' })).to.equal(['role']);
  });
});

describe('lenient', () => {
  it('drops unknown keys', () => {
    const { value, error } = stripUnknownKeys(Thing).validate({
      name: 'a',
      size: 1,
      role: 'admin',
    });
    expect({ value, error }).to.equal({ value: { name: 'a', size: 1 }, error: undefined });
  });
});

describe('nullable', () => {
  it('gives a named schema a name of its own', () => {
    const Colour = oneOf('Colour', 'red', 'green');
    const Maybe = nullable(Colour);
    expect(errorsOf(Maybe, null)).to.equal([]);
    expect(errorsOf(Maybe, 'blue')).to.equal(['']);
    expect([Colour, Maybe].map((each) => each.$_getFlag('label'))).to.equal([
      'Colour',
      'ColourOrNull',
    ]);
  });
});

/** Loads every contract in a process of its own, and says how many objects joi made of keys. */
const COUNTING = `
  const { default: Joi } = await import('joi');
  // Makes those that joi itself is checked by.
  Joi.checkPreferences({});
  const { object } = Joi;
  let made = 0;
  Joi.object = (...given) => {
    made += given.length;
    return object.apply(Joi, given);
  };
  const { endpoints } = await import('${new URL('../../harness/api.js', import.meta.url)}');
  const before = made;
  for (const { query, body, reply } of endpoints) for (const each of [query, body, reply]) each?.type;
  console.log(before, made > endpoints.length);
`;

describe('a schema', () => {
  it('is made by the first question and no other', () => {
    const asked: string[] = [];
    const keys = {
      get name() {
        asked.push('name');
        return text(5);
      },
    };
    const Named = nullable(object('Named', keys).description('It has a name'));
    expect(asked).to.equal([]);
    expect(errorsOf(Named, { name: 1 })).to.equal(['name']);
    expect(errorsOf(Named, null)).to.equal([]);
    expect(Named.describe().flags).to.include({ label: 'NamedOrNull' });
    expect(asked).to.equal(['name']);
  });

  it('is none of a contract before somebody asks', async () => {
    const args = ['--input-type=module', '--eval', COUNTING];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: new URL('.', import.meta.url),
    });
    expect(stdout).to.equal('0 true\n');
  });
});

describe('reason', () => {
  it('is kept without what surrounds it', () => {
    expect(reason(20).validate(' a\u00a0b \n')).to.equal({ value: 'a\u00a0b' });
  });

  it('says something: what looks like nothing is refused', () => {
    const blanks = [
      '',
      ' ',
      '\t\n',
      '\u00a0',
      '\u2003',
      '\u200b',
      '\u3164',
      '\u2800',
      '\u0000',
      '\ufeff',
    ];
    expect(blanks.filter((each) => errorsOf(reason(20), each).length === 0)).to.equal([]);
    expect(
      ['x', '–', '41', 'ß', '✓'].filter((each) => errorsOf(reason(20), each).length > 0),
    ).to.equal([]);
  });
});
