import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import Joi from 'joi';
import { libraryTextIn } from './librarytexts.js';

export const lab = Lab.script();
const { describe, it } = lab;

const thrown = (act: () => unknown): Error => {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('Nothing was thrown');
};

const database = new Database(':memory:');
database.exec('CREATE TABLE one (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL)');
const inDatabase = (sql: string) => thrown(() => database.exec(sql));
/** Of what V8 only learns as it runs. */
const [nothing, bracket] = [JSON.parse('null'), '('];

describe('the texts of libraries', () => {
  it('are found in what they really say, in a message and in a stack', () => {
    const errors = [
      thrown(() => JSON.parse('{')),
      thrown(() => JSON.parse('{x')),
      thrown(() => JSON.parse('["\u0000"]')),
      thrown(() => nothing.name),
      thrown(() => [...nothing]),
      thrown(() => new Array(-1)),
      thrown(() => new URL('x')),
      thrown(() => new RegExp(bracket)),
      thrown(() => new Date(Number.NaN).toISOString()),
      thrown(() => decodeURIComponent('%')),
      thrown(() => new Headers({ a: 'b\nc' })),
      thrown(() => Joi.assert(5, Joi.string())),
      thrown(() => Joi.assert({ name: 5 }, Joi.object({ name: Joi.string() }))),
      inDatabase('SELECT x FROM nowhere'),
      inDatabase("INSERT INTO one VALUES (1, 'a'), (2, 'a')"),
      inDatabase('INSERT INTO one VALUES (1, NULL)'),
    ];
    const missed = errors.filter((error) => libraryTextIn(error.message) === null);
    expect(missed.map(({ message }) => message)).to.equal([]);
    const stacks = errors.filter(({ stack = '' }) => {
      const [, ...frames] = JSON.stringify(stack).split('\\n');
      return libraryTextIn(frames.join('\\n')) === null;
    });
    expect(stacks).to.equal([]);
    expect(libraryTextIn('{"message":"\\"value\\" must be a string"}')).to.contain('"value" must');
  });

  it('are told from what the API says itself', () => {
    const own = [
      'Invalid request: prompt must be a string; limits.maxSteps must be a number',
      'Invalid request: null is not allowed; value must be a valid regular expression',
      'Invalid request payload JSON format',
      'condition 1: its value must be at most 4 KiB long; change the hook',
      'No valid token. Log in first',
    ];
    expect(own.filter((text) => libraryTextIn(text) !== null)).to.equal([]);
  });
});
