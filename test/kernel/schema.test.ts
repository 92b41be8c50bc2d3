import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import * as schema from '../../src/kernel/schema.js';

export const lab = Lab.script();
const { describe, it } = lab;

const { flag, ignoring, lenient, nullable, object, oneOf, optional, partial, text, whole } = schema;
const Thing = object('Thing', { name: text(5), size: whole(1, 9), note: optional(text(5)) });

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
    expect(errorsOf(flag(), 'true')).to.equal(['']);
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
    const Changes = ignoring(Thing, 'id');
    const { value } = Changes.validate({ name: 'a', size: 1, id: 'thing_1' });
    expect(value).to.equal({ name: 'a', size: 1 });
    expect(errorsOf(Changes, { name: 'a', size: 1, role: 'x' })).to.equal(['role']);
  });
});

describe('lenient', () => {
  it('drops unknown keys', () => {
    const { value, error } = lenient(Thing).validate({ name: 'a', size: 1, role: 'admin' });
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
