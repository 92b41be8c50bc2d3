import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  ExpectationFailed,
  Unavailable,
  UniqueViolation,
} from '../../src/store/engine/protocol.js';
import { assertRows } from '../../src/store/store.js';
import { openScratch, putFact, type Scratch } from './scratch.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

describe('store', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await openScratch();
  });
  afterEach(() => scratch.remove());

  const facts = async (): Promise<string[]> => {
    const rows = await scratch.store.db
      .selectFrom('facts')
      .select('name')
      .orderBy('name')
      .execute();
    return rows.map(({ name }) => name);
  };

  it('does all of a transaction', async () => {
    const outcomes = await scratch.store.transact([putFact('a', '1'), putFact('b', '2')]);
    expect(outcomes).to.equal([
      { rows: [], changes: 1 },
      { rows: [], changes: 1 },
    ]);
    expect(await facts()).to.equal(['a', 'b']);
  });

  it('does nothing of a transaction whose expectation fails, and says which', async () => {
    const gone = { sql: 'DELETE FROM facts WHERE name = ?', parameters: ['x'], expect: 1 };
    const error = await expect(scratch.store.transact([putFact('a', '1'), gone])).to.reject(
      ExpectationFailed,
    );
    expect(error.at).to.equal(1);
    expect(await facts()).to.equal([]);
  });

  it('asserts how many rows a select finds, within the transaction', async () => {
    const { store } = scratch;
    const both = store.db.selectFrom('facts').select('name').where('name', 'in', ['a', 'b']);
    await store.transact([putFact('a', '1'), assertRows(both, 1), putFact('b', '2')]);
    const error = await expect(store.transact([putFact('c', '3'), assertRows(both, 1)])).to.reject(
      ExpectationFailed,
    );
    expect(error.at).to.equal(1);
    expect(await facts()).to.equal(['a', 'b']);
  });

  it('says what is taken', async () => {
    await scratch.store.transact([putFact('a', '1')]);
    await expect(scratch.store.transact([putFact('b', '1'), putFact('a', '2')])).to.reject(
      UniqueViolation,
    );
    expect(await facts()).to.equal(['a']);
  });

  it('keeps each half of a character as one that says so, and finds it by what was written', async () => {
    const { store } = scratch;
    const texts = ['\ud800', 'a\udc00b', '\udc00\ud800', '😀\ud83d', 'ä😀\u0000'];
    await store.transact(texts.map((text) => putFact(text, `${text}.`)));
    const rows = await store.db.selectFrom('facts').selectAll().orderBy('name').execute();
    expect(rows).to.equal(
      ['a\ufffdb', 'ä😀\u0000', '\ufffd', '\ufffd\ufffd', '😀\ufffd'].map((name) => ({
        name,
        value: `${name}.`,
      })),
    );
    for (const text of texts) {
      const found = store.db.selectFrom('facts').select('value').where('name', '=', text);
      expect((await found.execute()).length, text).to.equal(1);
    }
  });

  it('counts a write when it begins and when it is committed', async () => {
    const { store } = scratch;
    const before = store.writes();
    const written = store.transact([putFact('a', '1')]);
    expect(store.writes()).to.equal(before + 1);
    await written;
    expect(store.writes()).to.equal(before + 2);
    await expect(store.transact([putFact('a', '1')])).to.reject(UniqueViolation);
    expect(store.writes()).to.equal(before + 4);
  });

  it('lets one that fails take nobody with it', async () => {
    const { store } = scratch;
    const results = await Promise.allSettled([
      store.transact([putFact('a', '1')]),
      store.transact([putFact('b', '1'), { sql: 'no such language', parameters: [] }]),
      store.transact([putFact('a', '2')]),
      store.transact([putFact('c', '1')]),
    ]);
    expect(results.map(({ status }) => status)).to.equal([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(await facts()).to.equal(['a', 'c']);
  });

  it('keeps the order in which it was asked', async () => {
    const { store } = scratch;
    await store.transact([putFact('n', '')]);
    const sql = `UPDATE facts SET value = value || ? WHERE name = 'n'`;
    const digits = '0123456789'.split('');
    await Promise.all(digits.map((digit) => store.transact([{ sql, parameters: [digit] }])));
    const { value } = await store.db
      .selectFrom('facts')
      .select('value')
      .where('name', '=', 'n')
      .executeTakeFirstOrThrow();
    expect(value).to.equal('0123456789');
  });

  it('lets one read what one wrote', async () => {
    const { db } = scratch.store;
    for (let n = 0; n < 50; n++) {
      await db
        .insertInto('facts')
        .values({ name: `n${n}`, value: '' })
        .execute();
      const count = await db
        .selectFrom('facts')
        .select((of) => of.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      expect(count).to.equal({ count: n + 1 });
    }
  });

  it('counts what a statement changed', async () => {
    const { db } = scratch.store;
    await db.insertInto('facts').values({ name: 'a', value: '1' }).execute();
    const updated = await db.updateTable('facts').set({ value: '2' }).executeTakeFirst();
    expect(updated.numUpdatedRows).to.equal(1n);
    const deleted = await db.deleteFrom('facts').where('name', '=', 'z').executeTakeFirst();
    expect(deleted.numDeletedRows).to.equal(0n);
  });

  it('refuses transactions that would hold BEGIN open', async () => {
    await expect(scratch.store.db.transaction().execute(async () => undefined)).to.reject(
      'Use store.transact instead, because a transaction is one message',
    );
  });

  it('does what was asked before it closes, and refuses what comes after', async () => {
    const { store, lost } = scratch;
    const before = store.transact([putFact('a', '1')]);
    const closed = store.close();
    expect(await before).to.equal([{ rows: [], changes: 1 }]);
    await closed;
    await expect(store.transact([putFact('b', '1')])).to.reject(Unavailable);
    expect(lost).to.equal([]);
  });
});
