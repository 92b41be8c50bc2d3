import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import {
  ExpectationFailed,
  Unavailable,
  UniqueViolation,
} from '../../../src/store/engine/protocol.js';
import { putFact } from '../scratch.js';
import { entry, LEDGER_KEY, type Ledger, openLedger } from './ledger.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

describe('audit chain', () => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await openLedger();
  });
  afterEach(() => ledger.remove());

  const rows = () => ledger.store.db.selectFrom('audit').selectAll().orderBy('number').execute();
  const numbers = async () => (await rows()).map(({ number }) => number);
  /** What somebody else does to the file while the store is open. */
  const meanwhile = (sql: string): void => {
    const db = new Database(join(ledger.home, 'adjutant.db'), { timeout: 5000 });
    db.exec(sql);
    db.close();
  };
  const facts = async () =>
    (await ledger.store.db.selectFrom('facts').select('name').execute()).map(({ name }) => name);

  it('writes the row with the effect, numbered, under a MAC that covers the one before', async () => {
    const first = entry({ id: 'audit_1', requestId: 'request_1', data: { n: 1 } });
    const second = entry({ id: 'audit_2', target: null, data: null, action: 'größer' });
    const outcomes = await ledger.store.transact([putFact('a', '1'), { audit: first }]);
    await ledger.store.transact([{ audit: second }]);
    expect(outcomes).to.equal([
      { rows: [], changes: 1 },
      { rows: [], changes: 1 },
    ]);
    const mac = (text: string) => createHmac('sha256', LEDGER_KEY).update(text).digest('hex');
    const one = mac(
      `${'0'.repeat(64)}:1;7:audit_1;24:2026-03-01T12:00:00.000Z;8:user_ada;8:user_bob` +
        ';12:users.invite;8:user_eve;2:ok;9:127.0.0.1;9:request_1;7:{"n":1}',
    );
    const { requestId } = second;
    const two = mac(
      `${one}:2;7:audit_2;24:2026-03-01T12:00:00.000Z;8:user_ada;8:user_bob` +
        `;8:größer;-;2:ok;9:127.0.0.1;${requestId.length}:${requestId};-`,
    );
    expect((await rows()).map((row) => [row.number, row.mac])).to.equal([
      [1, one],
      [2, two],
    ]);
    expect(ledger.reports.slice(1)).to.equal([
      { head: { number: 1, mac: one }, problem: null },
      { head: { number: 2, mac: two }, problem: null },
    ]);
  });

  it('writes neither where one of them cannot be', async () => {
    await ledger.write(1);
    const gone = { sql: 'DELETE FROM facts WHERE name = ?', parameters: ['x'], expect: 1 };
    await expect(ledger.store.transact([{ audit: entry() }, putFact('a', '1'), gone])).to.reject(
      ExpectationFailed,
    );
    expect(await numbers()).to.equal([1]);
    meanwhile(`CREATE TRIGGER stop BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`);
    await expect(ledger.store.transact([putFact('a', '1'), { audit: entry() }])).to.reject(
      Unavailable,
      'The audit log is not writable: no',
    );
    expect([await numbers(), await facts()]).to.equal([[1], []]);
  });

  for (const [does, sql] of Object.entries({
    swallows: 'CREATE TRIGGER stop BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END',
    'swallows, and writes elsewhere,': `CREATE TRIGGER stop BEFORE INSERT ON audit BEGIN
      INSERT INTO facts (name, value) VALUES ('x', '1'); SELECT RAISE(IGNORE); END`,
    'takes away again': `DROP TRIGGER audit_undeleted; CREATE TRIGGER stop AFTER INSERT ON audit
      BEGIN DELETE FROM audit WHERE number = NEW.number; END`,
  })) {
    it(`does nothing whose row a trigger ${does}`, async () => {
      await ledger.write(1);
      meanwhile(sql);
      await expect(ledger.store.transact([putFact('a', '1'), { audit: entry() }])).to.reject(
        Unavailable,
        /^The audit log is not writable: the database did not store the entry/,
      );
      expect([await numbers(), await facts()]).to.equal([[1], []]);
      meanwhile('DROP TRIGGER stop');
      await ledger.write(1);
      expect(await numbers()).to.equal([1, 2]);
    });
  }

  it('has no gap where one of many at once fails', async () => {
    const { store } = ledger;
    await store.transact([putFact('taken', '1')]);
    const settled = await Promise.allSettled([
      store.transact([{ audit: entry() }]),
      store.transact([{ audit: entry() }, putFact('taken', '2')]),
      store.transact([{ audit: entry() }, { audit: entry() }]),
      store.transact([putFact('a', '1')]),
    ]);
    expect(settled.map(({ status }) => status)).to.equal([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(settled[1]?.status === 'rejected' && settled[1].reason).to.be.instanceof(
      UniqueViolation,
    );
    expect(await numbers()).to.equal([1, 2, 3]);
    expect((await ledger.heads()).length).to.equal(1);
  });

  it('lets one id in once', async () => {
    const audit = entry();
    await ledger.store.transact([{ audit }]);
    await expect(ledger.store.transact([putFact('a', '1'), { audit }])).to.reject(Unavailable);
    expect([await numbers(), await facts()]).to.equal([[1], []]);
  });

  it('is neither changed nor deleted by the daemon', async () => {
    await ledger.write(1);
    const { db } = ledger.store;
    const message = /the audit log is only appended to/;
    await expect(db.updateTable('audit').set({ target: 'x' }).execute()).to.reject(message);
    await expect(db.deleteFrom('audit').execute()).to.reject(message);
    expect(await numbers()).to.equal([1]);
  });

  it('holds whatever text comes', async () => {
    const odd = ['\u0000', '\ud800', '😀', '', "'", '\r\n', 'a'.repeat(10_000)];
    for (const target of odd) {
      await ledger.store.transact([{ audit: entry({ target, data: { target } }) }]);
    }
    const check = await ledger.store.look('checkAudit', { after: null });
    expect([check.checked, check.first]).to.equal([odd.length, null]);
    const rows = await ledger.store.db.selectFrom('audit').select('target').execute();
    const kept = odd.map((text) => text.replace('\ud800', '\ufffd'));
    expect(rows.map(({ target }) => target)).to.equal(kept);
  });
});
