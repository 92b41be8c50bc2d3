import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import type Database from 'better-sqlite3';
import type { AuditVerdict } from '../../../src/accounts/audit/contract.js';
import { auditReader } from '../../../src/accounts/audit/heads.js';
import { verifyAuditLog } from '../../../src/accounts/audit/service.js';
import { CHAIN_START, CHAINED_ROW_SQL, macWith } from '../../../src/store/audit/chain.js';
import type { AuditHead } from '../../../src/store/engine/protocol.js';
import { edited, entry, LEDGER_KEY, type Ledger, openLedger } from '../../store/audit/ledger.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const ENTRIES = 8;
/** All but the number, which is looked at below. */
const COLUMNS = [
  'id',
  'at',
  'actor_id',
  'impersonator_id',
  'action',
  'target',
  'outcome',
  'ip',
  'request_id',
  'data',
  'mac',
];
type Edit = (db: Database.Database) => void;

/** An edit of the log, and what verify finds. */
interface Case {
  does: string;
  edit: Edit;
  problem: Pick<NonNullable<AuditVerdict['problem']>, 'number' | 'kind'>;
}

const run =
  (...statements: string[]): Edit =>
  (db) => {
    for (const sql of statements) db.exec(sql);
  };
const move = (from: number, to: number): string =>
  `UPDATE audit SET number = ${to} WHERE number = ${from}`;
const swap = (a: number, b: number): string[] => [move(a, -1), move(b, a), move(-1, b)];

/** One bit of the byte at an index, counted from the end where it is negative, in the bytes as they lie there. */
const flip =
  (column: string, at: number, number: number): Edit =>
  (db) => {
    const read = db.prepare(`SELECT CAST(${column} AS BLOB) AS bytes FROM audit WHERE number = ?`);
    const { bytes } = read.get(number) as { bytes: Buffer };
    const index = (at + bytes.length) % bytes.length;
    bytes[index] = (bytes[index] ?? 0) ^ 0x40;
    const write = `UPDATE audit SET ${column} = CAST(? AS TEXT) WHERE number = ?`;
    db.prepare(write).run(bytes, number);
  };

const CASES: Case[] = [
  ...COLUMNS.flatMap((column) =>
    [0, -1].map((at) => ({
      does: `a bit of byte ${at} of ${column} is turned`,
      edit: flip(column, at, 5),
      problem: { number: 5, kind: 'changed' as const },
    })),
  ),
  ...[1, ENTRIES].flatMap((number) =>
    ['action', 'mac'].map((column) => ({
      does: `${column} of entry ${number} is changed`,
      edit: flip(column, 0, number),
      problem: { number, kind: 'changed' as const },
    })),
  ),
  ...['impersonator_id', 'target', 'data'].map((column) => ({
    does: `${column} is emptied`,
    edit: run(`UPDATE audit SET ${column} = NULL WHERE number = 5`),
    problem: { number: 5, kind: 'changed' as const },
  })),
  {
    does: 'a null is filled in',
    edit: run(`UPDATE audit SET target = '' WHERE number = 4`),
    problem: { number: 4, kind: 'changed' as const },
  },
  {
    does: 'what stands in one column is moved into the next',
    edit: run(`UPDATE audit SET action = 'users', target = '.invite' || target WHERE number = 5`),
    problem: { number: 5, kind: 'changed' as const },
  },
  {
    does: 'a character is replaced by bytes that are read as the same',
    edit: run(`UPDATE audit SET target = CAST(x'ff' AS TEXT) WHERE number = 3`),
    problem: { number: 3, kind: 'changed' as const },
  },
  {
    does: 'an entry is numbered anew',
    edit: run(move(5, 50)),
    problem: { number: 5, kind: 'missing' as const },
  },
  {
    does: 'an entry gets a number that JavaScript cannot hold',
    edit: run(`UPDATE audit SET number = 9223372036854775807 WHERE number = ${ENTRIES}`),
    problem: { number: ENTRIES, kind: 'missing' as const },
  },
  ...[1, 5].map((number) => ({
    does: `entry ${number} is removed`,
    edit: run(`DELETE FROM audit WHERE number = ${number}`),
    problem: { number, kind: 'missing' as const },
  })),
  {
    does: 'an entry is removed and the gap closed',
    edit: run('DELETE FROM audit WHERE number = 5', move(6, 5), move(7, 6), move(8, 7)),
    problem: { number: 5, kind: 'changed' as const },
  },
  {
    does: 'two entries are swapped',
    edit: run(...swap(4, 6)),
    problem: { number: 4, kind: 'changed' as const },
  },
  {
    does: 'an entry is put before the first',
    edit: run(
      `INSERT INTO audit SELECT 0, 'audit_0', at, actor_id, impersonator_id, action, target,
        outcome, ip, request_id, data, mac FROM audit WHERE number = 1`,
    ),
    problem: { number: 0, kind: 'changed' as const },
  },
  {
    does: 'an entry is put behind the last',
    edit: run(
      `INSERT INTO audit SELECT ${ENTRIES + 1}, 'audit_9', at, actor_id, impersonator_id, action,
        target, outcome, ip, request_id, data, mac FROM audit WHERE number = ${ENTRIES}`,
    ),
    problem: { number: ENTRIES + 1, kind: 'changed' as const },
  },
  ...[1, 3, ENTRIES].map((count) => ({
    does: `the last ${count} are cut`,
    edit: run(`DELETE FROM audit WHERE number > ${ENTRIES - count}`),
    problem: { number: ENTRIES - count + 1, kind: 'cut' as const },
  })),
];

describe('audit verify', () => {
  let original: Ledger;
  let open: Ledger;
  let head: AuditHead;

  before(async () => {
    original = await openLedger();
    await original.store.transact([{ audit: entry({ data: null, target: null }) }]);
    await original.write(1);
    await original.store.transact([{ audit: entry({ target: '\ufffd' }) }]);
    await original.store.transact([{ audit: entry({ target: null }) }]);
    await original.write(ENTRIES - 4);
    await original.store.close();
    head = original.reports.at(-1)?.head ?? { number: 0, mac: '' };
    open = await openLedger(original.home);
    edited(open.home, run('CREATE TABLE kept AS SELECT * FROM audit'));
  });

  after(async () => {
    await open.remove();
    await original.remove();
  });

  /** The verdict after an edit, which is undone. */
  const afterwards = async (edit: Edit): Promise<AuditVerdict> => {
    edited(open.home, edit);
    try {
      return await verifyAuditLog(auditReader(open.store.look));
    } finally {
      edited(open.home, run('DELETE FROM audit', 'INSERT INTO audit SELECT * FROM kept'));
      // The store has recorded the head of the edited log.
      await open.store.look('lostHead', undefined);
      await copyFile(join(original.home, 'audit.head'), join(open.home, 'audit.head'));
    }
  };

  it('finds nothing wrong with what was written', async () => {
    const verdict = await afterwards(() => undefined);
    expect(verdict).to.equal({ ok: true, entries: ENTRIES, head, problem: null });
  });

  it('finds nothing wrong with a log that is empty', async () => {
    const empty = await openLedger();
    const verdict = await verifyAuditLog(auditReader(empty.store.look));
    expect(verdict).to.equal({ ok: true, entries: 0, head: null, problem: null });
    await empty.remove();
  });

  for (const { does, edit, problem } of CASES) {
    it(`finds where ${does}`, async () => {
      const verdict = await afterwards(edit);
      const { number, kind, message } = verdict.problem ?? {};
      expect({ ok: verdict.ok, number, kind }).to.equal({ ok: false, ...problem });
      expect(message).to.match(/^(Entry|The log ends at entry) \d+/);
    });
  }

  it('finds a log that was written anew without the key', async () => {
    const { problem } = await afterwards(rewritten(1, new Uint8Array(32)));
    expect(problem).to.equal({
      number: 1,
      kind: 'rewritten',
      message: 'None of the 8 entries is valid: the log was rewritten, or the master key differs',
    });
    const part = await afterwards(rewritten(5, new Uint8Array(32)));
    expect([part.problem?.number, part.problem?.kind]).to.equal([5, 'changed']);
  });

  it('finds a log that was written anew with the key', async () => {
    for (const from of [1, 5, ENTRIES]) {
      const { problem } = await afterwards(rewritten(from, LEDGER_KEY));
      expect(problem).to.equal({
        number: from,
        kind: 'rewritten',
        message: `Entry ${from} differs from audit.head: entries were removed or rewritten`,
      });
    }
  });

  it('is not silenced by what is written after a cut', async () => {
    const copy = await openLedger(original.home);
    await copy.tamper(run('DELETE FROM audit WHERE number > 6'));
    await copy.write(5);
    const { problem } = await verifyAuditLog(auditReader(copy.store.look));
    expect([problem?.number, problem?.kind]).to.equal([7, 'rewritten']);
    await copy.remove();
  });

  it('says when nobody can tell', async () => {
    const copy = await openLedger(original.home);
    await rm(join(copy.home, 'audit.head'));
    const { problem } = await verifyAuditLog(auditReader(copy.store.look));
    expect([problem?.number, problem?.kind]).to.equal([ENTRIES + 1, 'cut']);
    expect(problem?.message).to.match(
      /^Cannot verify that the newest entries are complete: ENOENT/,
    );
    await copy.remove();
  });

  it('looks at a long log in steps, and at what is written meanwhile', async () => {
    const long = await openLedger();
    const work = Array.from({ length: 1200 }, () => long.store.transact([{ audit: entry() }]));
    await Promise.all(work);
    const [verdict] = await Promise.all([
      verifyAuditLog(auditReader(long.store.look)),
      long.write(3),
    ]);
    expect([verdict.ok, verdict.problem]).to.equal([true, null]);
    expect(verdict.entries).to.be.within(1200, 1203);
    await long.tamper(run('DELETE FROM audit WHERE number = 1100'));
    const { problem } = await verifyAuditLog(auditReader(long.store.look));
    expect([problem?.number, problem?.kind]).to.equal([1100, 'missing']);
    await long.remove();
  });
});

/** Somebody else in the place of the actor from an entry on, with MACs to fit. */
const rewritten =
  (from: number, key: Uint8Array): Edit =>
  (db) => {
    const mac = macWith(key);
    db.prepare(`UPDATE audit SET actor_id = 'user_other' WHERE number >= ?`).run(from);
    const macAt = db.prepare<[number], string>('SELECT mac FROM audit WHERE number = ?').pluck();
    const written = db
      .prepare<[number], Buffer>(`SELECT ${CHAINED_ROW_SQL} FROM audit WHERE number = ?`)
      .pluck();
    const write = db.prepare('UPDATE audit SET mac = ? WHERE number = ?');
    for (let number = from; number <= ENTRIES; number++) {
      const before = macAt.get(number - 1) ?? CHAIN_START.mac;
      write.run(mac(before, number, written.get(number) ?? Buffer.alloc(0)), number);
    }
  };
