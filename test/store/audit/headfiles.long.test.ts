import {
  appendFile,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  rmdir,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { migrations } from '../../../migrations/all.js';
import { auditReader } from '../../../src/accounts/audit/heads.js';
import { verifyAuditLog } from '../../../src/accounts/audit/service.js';
import { appendAudit } from '../../../src/store/audit/chain.js';
import { quarantineCopy } from '../../../src/store/thread/quarantine.js';
import { edited, entry, LEDGER_KEY, type Ledger, openLedger } from './ledger.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

/** Before the schema told of heads. */
const OLD = migrations.filter(({ version }) => version < 310);

/** A home as an older version left it, with four entries. */
const openOld = async ({ hasHead }: { hasHead: boolean }): Promise<Ledger> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-old-'));
  const db = new Database(join(home, 'adjutant.db'));
  for (const { sql } of OLD) db.exec(sql);
  db.pragma(`user_version = ${OLD.at(-1)?.version}`);
  const append = appendAudit(db, { auditKey: LEDGER_KEY });
  for (let n = 0; n < 4; n++) append(entry());
  const line = db.prepare<[], string>(`SELECT number || ' ' || mac FROM audit WHERE number = 4`);
  if (hasHead) await writeFile(join(home, 'audit.head'), `${line.pluck().get()}\n`);
  db.close();
  const ledger = await openLedger(home);
  await rm(home, { recursive: true });
  return ledger;
};

interface Verdict {
  ok: boolean;
  number?: number | undefined;
  kind?: string | undefined;
  message?: string | undefined;
}
const verified = async (ledger: Ledger): Promise<Verdict> => {
  const { ok, problem } = await verifyAuditLog(auditReader(ledger.store.look));
  return { ok, number: problem?.number, kind: problem?.kind, message: problem?.message };
};
const WELL: Verdict = { ok: true, number: undefined, kind: undefined, message: undefined };
/** What the daemon itself wrote to the log. */
const ownRows = async ({ store }: Ledger) => {
  const rows = await store.db
    .selectFrom('audit')
    .select(['number', 'action', 'outcome', 'actor_id', 'data'])
    .where('action', 'like', 'audit.head-%')
    .orderBy('number')
    .execute();
  return rows.map(({ number, action, outcome, actor_id, data }) => {
    return [number, action, outcome, actor_id, JSON.parse(data ?? '').file];
  });
};
const numbersIn = async (file: string): Promise<number[]> =>
  (await readFile(file, 'utf8')).split('\n').flatMap((line) => {
    return /^\d+ [0-9a-f]{64}$/.test(line) ? [Number.parseInt(line, 10)] : [];
  });

describe('audit.head, where it is gone', () => {
  let ledger: Ledger;
  beforeEach(async () => {
    ledger = await openLedger();
    await ledger.write(5);
  });
  afterEach(() => ledger.remove());

  const file = () => join(ledger.home, 'audit.head');
  const cut = (db: Parameters<Parameters<typeof edited>[1]>[0]) =>
    db.exec('DELETE FROM audit WHERE number > 3');

  const GONE: Record<string, () => Promise<void>> = {
    removed: () => rm(file()),
    emptied: () => truncate(file()),
    'overwritten with something else': () =>
      truncate(file()).then(() => appendFile(file(), 'nothing to see\n')),
  };
  for (const [how, loseFile] of Object.entries(GONE)) {
    it(`is a finding, with the end of the log cut and the file ${how}, at every start`, async () => {
      await ledger.store.close();
      edited(ledger.home, cut);
      await loseFile();
      const found = {
        ok: false,
        number: 4,
        kind: 'cut',
        message:
          'Cannot verify that no entries before entry 4 were removed: audit.head was missing when the entry was written',
      };
      await ledger.reopen();
      expect(ledger.reports.at(-1)?.problem).to.equal(
        'audit.head is missing: a removal of the newest entries cannot be detected',
      );
      expect(await verified(ledger)).to.equal(found);
      await ledger.write(3);
      await ledger.reopen();
      expect(await verified(ledger)).to.equal(found);
      expect(await ownRows(ledger)).to.equal([
        [4, 'audit.head-lost', 'failed', 'daemon', 'audit.head'],
      ]);
    });

    it(`is a finding where it is ${how} under a running daemon`, async () => {
      await loseFile();
      expect((await verified(ledger)).ok).to.be.false();
      await ledger.write(1);
      expect((await verified(ledger)).number).to.equal(7);
      // What the daemon remembers is written down again.
      expect(await numbersIn(file())).to.equal([5, 7]);
    });
  }

  it('has what the daemon remembers, where lines were cut under it', async () => {
    const lines = (await readFile(file(), 'utf8')).split('\n').slice(0, 2);
    await writeFile(file(), `${lines.join('\n')}\n`);
    edited(ledger.home, cut);
    await ledger.write(1);
    expect(await numbersIn(file())).to.equal([1, 2, 5, 4]);
    expect((await verified(ledger)).message).to.match(/audit.head contains entry 5$/);
  });

  it('is a finding where the whole log is gone with it', async () => {
    await ledger.store.close();
    edited(ledger.home, (db) => db.exec('DELETE FROM audit'));
    await rm(file());
    await ledger.reopen();
    expect((await verified(ledger)).ok).to.be.false();
    await ledger.write(1);
    expect((await verified(ledger)).ok).to.be.false();
  });

  it('is not written under a key that does not make the chain', async () => {
    await ledger.store.close();
    await rm(file());
    await ledger.tamper(() => undefined, new Uint8Array(32));
    expect(await ownRows(ledger)).to.equal([]);
    await ledger.reopen();
    expect(await ownRows(ledger)).to.equal([
      [6, 'audit.head-lost', 'failed', 'daemon', 'audit.head'],
    ]);
  });
});

describe('audit.head, where there never was one', () => {
  let ledger: Ledger;
  afterEach(() => ledger.remove());
  const file = () => join(ledger.home, 'audit.head');

  it('is adopted once, in the migration, as an entry of the log', async () => {
    ledger = await openOld({ hasHead: false });
    expect(ledger.reports.map(({ problem }) => problem)).to.equal([null]);
    const adopted = [[5, 'audit.head-adopted', 'ok', 'daemon', 'audit.head']];
    expect(await ownRows(ledger)).to.equal(adopted);
    expect([await numbersIn(file()), await verified(ledger)]).to.equal([[5], WELL]);
    await ledger.reopen();
    await ledger.write(1);
    expect([await ownRows(ledger), await verified(ledger)]).to.equal([adopted, WELL]);
    await ledger.store.close();
    await rm(file());
    await ledger.reopen();
    expect(await ownRows(ledger)).to.equal([
      ...adopted,
      [7, 'audit.head-lost', 'failed', 'daemon', 'audit.head'],
    ]);
    expect((await verified(ledger)).ok).to.be.false();
  });

  it('is not adopted by a home that had one before the migration', async () => {
    ledger = await openOld({ hasHead: true });
    expect([await ownRows(ledger), await verified(ledger)]).to.equal([[], WELL]);
    await ledger.store.close();
    await rm(file());
    await ledger.reopen();
    expect((await verified(ledger)).ok).to.be.false();
  });

  it('is adopted after a crash that came before the first head', async () => {
    ledger = await openLedger();
    await rm(file());
    await mkdir(file());
    // Committed, and its head cannot be written.
    await ledger.write(1);
    await ledger.store.close();
    await rmdir(file());
    await ledger.reopen();
    expect(ledger.reports.at(-1)?.problem).to.be.null();
    expect([(await ownRows(ledger)).length, await verified(ledger)]).to.equal([1, WELL]);
  });

  it('begins with the log of a new home, without an entry', async () => {
    ledger = await openLedger();
    await ledger.reopen();
    await ledger.write(1);
    await ledger.reopen();
    expect([await ownRows(ledger), await numbersIn(file())]).to.equal([[], [1]]);
  });
});

describe('a file of heads outside the home', () => {
  let ledger: Ledger;
  let folder: string;
  const outside = () => join(folder, 'heads');
  beforeEach(async () => {
    ledger = await openLedger();
    folder = `${ledger.home}-outside`;
    await mkdir(folder);
    await ledger.reopen(outside());
  });
  afterEach(async () => {
    await ledger.remove();
    await rm(folder, { recursive: true });
  });

  it('has a line for each commit that wrote to the log, and is only added to', async () => {
    await ledger.write(2);
    await ledger.reopen(outside());
    await ledger.write(1100);
    const numbers = await numbersIn(outside());
    expect(numbers).to.equal(Array.from({ length: 1102 }, (_, at) => at + 1));
    expect([await verified(ledger), await ownRows(ledger)]).to.equal([WELL, []]);
    // Its end is beyond what is read at once.
    await ledger.tamper((db) => db.exec('DELETE FROM audit WHERE number > 1100'));
    await rm(join(ledger.home, 'audit.head'));
    await ledger.reopen(outside());
    const { message } = await verified(ledger);
    expect(message).to.equal(
      `Entry 1101 differs from ${outside()}: entries were removed or rewritten`,
    );
  });

  it('knows what was cut from the database and the home alike, however long ago', async () => {
    await ledger.write(5);
    await ledger.store.close();
    edited(ledger.home, (db) => db.exec('DELETE FROM audit WHERE number > 3'));
    const kept = (await readFile(join(ledger.home, 'audit.head'), 'utf8')).split('\n').slice(0, 3);
    await truncate(join(ledger.home, 'audit.head'));
    await appendFile(join(ledger.home, 'audit.head'), `${kept.join('\n')}\n`);
    await ledger.reopen(outside());
    expect(ledger.reports.at(-1)?.problem).to.equal(
      `${outside()} records entry 4, but the database ends at 3: entries were removed`,
    );
    const cut = { ok: false, number: 4, kind: 'cut' };
    const message = `The log ends at entry 3, but ${outside()} contains entry 4`;
    expect(await verified(ledger)).to.equal({ ...cut, message });
    // More than is read of the file at once.
    await Promise.all(
      Array.from({ length: 40 }, () => ledger.store.transact([{ audit: entry() }])),
    );
    await ledger.write(1000);
    expect(await verified(ledger)).to.equal({
      ok: false,
      number: 4,
      kind: 'rewritten',
      message: `Entry 4 differs from ${outside()}: entries were removed or rewritten`,
    });
  });

  it('is named with audit.head where both contradict', async () => {
    await ledger.write(5);
    await ledger.store.close();
    edited(ledger.home, (db) => db.exec('DELETE FROM audit WHERE number > 3'));
    await ledger.reopen(outside());
    expect((await verified(ledger)).message).to.equal(
      `The log ends at entry 3, but audit.head and ${outside()} contain entry 4`,
    );
  });

  it('is a finding where it is gone, and no longer adopted', async () => {
    await ledger.write(2);
    await rename(outside(), `${outside()}.1`);
    expect((await verified(ledger)).message).to.match(
      /^Cannot verify that the newest entries are complete: ENOENT/,
    );
    await ledger.reopen(outside());
    expect(await ownRows(ledger)).to.equal([[3, 'audit.head-lost', 'failed', 'daemon', outside()]]);
    expect((await verified(ledger)).message).to.equal(
      `Cannot verify that no entries before entry 3 were removed: ${outside()} was missing when the entry was written`,
    );
  });

  it('may be changed for another, as an entry of the log', async () => {
    await ledger.write(2);
    const other = join(folder, 'other');
    await ledger.reopen(other);
    expect(await ownRows(ledger)).to.equal([[3, 'audit.head-adopted', 'ok', 'daemon', other]]);
    expect([await numbersIn(other), await verified(ledger)]).to.equal([[3], WELL]);
  });

  it('is begun by a copy of the database that goes on where the file is not', async () => {
    await ledger.write(2);
    await ledger.store.close();
    quarantineCopy(join(ledger.home, 'adjutant.db'), {
      at: '2026-03-01T12:00:00.000Z',
      why: 'Restored from a backup',
      mintId: () => 'notification_1',
      entry: entry(),
      keys: { auditKey: LEDGER_KEY },
    });
    await rm(outside());
    await ledger.reopen(outside());
    expect(await ownRows(ledger)).to.equal([[4, 'audit.head-adopted', 'ok', 'daemon', outside()]]);
    expect(await verified(ledger)).to.equal(WELL);
  });

  it('stands in nobody’s way where it cannot be written, and heals', async () => {
    await ledger.write(1);
    await rename(outside(), `${outside()}.1`);
    await mkdir(outside());
    await ledger.write(2);
    const told = ledger.reports.filter(({ problem }) => problem !== null);
    expect(told.length).to.equal(1);
    expect(told[0]?.problem).to.contain(`${outside()} is not writable: EISDIR`);
    await rmdir(outside());
    await rename(`${outside()}.1`, outside());
    await ledger.write(1);
    expect(await numbersIn(outside())).to.equal([1, 4]);
    expect(await verified(ledger)).to.equal(WELL);
  });

  it('goes on after half a line that a full disk left', async () => {
    await ledger.write(1);
    await ledger.store.close();
    await appendFile(outside(), '2 0123');
    await ledger.reopen(outside());
    await ledger.write(1);
    const lines = (await readFile(outside(), 'utf8')).split('\n');
    expect([lines[1], await numbersIn(outside())]).to.equal(['2 0123', [1, 2]]);
  });
});
