import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sql } from 'kysely';
import { migrations } from '../../migrations/all.js';
import { closeThreads, openThreads } from '../../src/store/threads.js';
import { until } from '../harness/app.js';
import { openScratch, putFact, type Scratch } from './scratch.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** Counts to a number, which takes seconds. */
const SLOW = sql<{
  count: number;
}>`(WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10000000)
  SELECT count(*) AS count FROM n)`;

describe('the readers', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await openScratch();
  });
  afterEach(() => scratch.remove());

  it('answer others while one of them is busy, with what was written meanwhile', async () => {
    const { store } = scratch;
    // Opens the second reader, which may take longer than the count.
    await store.look('checkTable', { after: '' });
    const slow = { hasEnded: false };
    const counted = store.db.selectFrom(SLOW.as('counted')).select('count').execute();
    const ended = counted.then((rows) => {
      slow.hasEnded = true;
      return rows;
    });
    await store.transact([putFact('a', '1')]);
    const names = () => store.db.selectFrom('facts').select('name').execute();
    const quick: Promise<unknown>[] = [];
    const found: unknown[] = [];
    await until(
      async () => {
        quick.push(names().then((rows) => found.push(rows)));
        return found.length;
      },
      (count) => count > 0,
    );
    expect(slow.hasEnded).to.be.false();
    expect(found[0]).to.equal([{ name: 'a' }]);
    expect(await ended).to.equal([{ count: 10_000_000 }]);
    await Promise.all(quick);
  });

  it('opens with the audit keys of its time, of which a rekey makes others', async () => {
    const { home, store } = scratch;
    await store.close();
    const keys = { auditKey: new Uint8Array(32) };
    const asked: (typeof keys)[] = [];
    const engines = await openThreads(
      { home, migrations, auditKey: new Uint8Array(32).fill(1) },
      { lost: () => undefined, audited: () => undefined },
      () => {
        asked.push(keys);
        return keys;
      },
    );
    expect(asked).to.equal([]);
    await engines.reader.open();
    await engines.reader.open();
    expect(asked).to.equal([keys]);
    await closeThreads(engines);
  });

  it('are not needed for a read', async () => {
    const { store } = scratch;
    await store.transact([putFact('a', '1')]);
    expect(await store.db.selectFrom('facts').select('name').execute()).to.equal([{ name: 'a' }]);
  });
});
