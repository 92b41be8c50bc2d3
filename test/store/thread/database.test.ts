import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Migration, OpenRefused } from '../../../src/store/engine/protocol.js';
import { openReadOnly, openWriter, takeLock } from '../../../src/store/thread/database.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

const step = (version: number, sql = `CREATE TABLE t${version} (a TEXT) STRICT`): Migration => ({
  version,
  name: `t${version}`,
  sql,
});

describe('opening', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-opening-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  const open = async (...migrations: Migration[]) => {
    const { db, opened } = await openWriter(home, migrations);
    db.close();
    return opened;
  };
  const file = () => join(home, 'adjutant.db');
  const refused = async (...migrations: Migration[]): Promise<string> => {
    const error = await expect(openWriter(home, migrations)).to.reject(OpenRefused);
    return error.message;
  };

  it('makes a database of the newest schema', async () => {
    expect(await open(step(10), step(20))).to.equal({
      isNew: true,
      schema: 20,
      snapshot: null,
      migrated: [10, 20],
    });
  });

  it('does what is pending after a snapshot, and nothing the next time', async () => {
    await open(step(10));
    expect(await open(step(10), step(20))).to.equal({
      isNew: false,
      schema: 20,
      snapshot: 'before-20.db',
      migrated: [20],
    });
    expect(await open(step(10), step(20))).to.equal({
      isNew: false,
      schema: 20,
      snapshot: null,
      migrated: [],
    });
  });

  it('keeps the three newest snapshots', async () => {
    const steps = [10, 20, 30, 40, 50].map((version) => step(version));
    for (let count = 1; count <= steps.length; count++) await open(...steps.slice(0, count));
    expect((await readdir(join(home, 'snapshots'))).sort()).to.equal([
      'before-30.db',
      'before-40.db',
      'before-50.db',
    ]);
  });

  it('rolls a failing migration back and keeps what went before', async () => {
    await open(step(10));
    const bad = step(30, 'CREATE TABLE half (a TEXT) STRICT; CREATE TABLE t10 (a TEXT) STRICT');
    expect(await refused(step(10), step(20), bad)).to.match(
      /^Migration 30 \(t30\) failed and was rolled back\. Start the previous version of Adjutant\. Reason: .*t10 already exists/,
    );
    expect(await open(step(10), step(20), step(30, 'CREATE TABLE half (a TEXT) STRICT'))).to.equal({
      isNew: false,
      schema: 30,
      snapshot: 'before-30.db',
      migrated: [30],
    });
  });

  it('replaces a table and keeps the rows that refer to its rows', async () => {
    const family = `CREATE TABLE parent (id TEXT PRIMARY KEY CHECK (id <> 'b')) STRICT;
      CREATE TABLE child (id TEXT REFERENCES parent (id) ON DELETE CASCADE) STRICT;
      INSERT INTO parent VALUES ('a'); INSERT INTO child VALUES ('a')`;
    const replaced = (where: string) => `CREATE TABLE copy (id TEXT PRIMARY KEY) STRICT;
      INSERT INTO copy SELECT id FROM parent ${where};
      DROP TABLE parent; ALTER TABLE copy RENAME TO parent`;
    await open(step(10, family));
    expect(await refused(step(10, family), step(20, replaced('WHERE false')))).to.include(
      'the table child has a row that refers to a missing row of the table parent',
    );
    const { db } = await openWriter(home, [step(10, family), step(20, replaced(''))]);
    expect(db.prepare('SELECT id FROM child').all()).to.equal([{ id: 'a' }]);
    expect(() => db.exec("INSERT INTO child VALUES ('c')")).to.throw(/FOREIGN KEY/);
    db.exec("INSERT INTO parent VALUES ('b'); DELETE FROM parent WHERE id = 'a'");
    expect(db.prepare('SELECT id FROM child').all()).to.equal([]);
    db.close();
  });

  it('refuses a newer schema and leaves it untouched', async () => {
    await open(step(10), step(20));
    const before = await readFile(file());
    expect(await refused(step(10))).to.match(
      /has schema 20, but this version supports only up to 10/,
    );
    expect(await readFile(file())).to.equal(before);
  });

  it('refuses what is no database and leaves it untouched', async () => {
    await writeFile(file(), 'This is a letter, not a database. '.repeat(100));
    const before = await readFile(file());
    expect(await refused(step(10))).to.match(/is damaged. Nothing was changed/);
    expect(await readFile(file())).to.equal(before);
  });

  it('refuses a damaged database and leaves it untouched', async () => {
    await open(step(10, 'CREATE TABLE a (b TEXT) STRICT; CREATE INDEX c ON a (b)'));
    const bytes = await readFile(file());
    bytes.fill(0xff, 4096 + 100);
    await writeFile(file(), bytes);
    expect(await refused(step(10))).to.match(/is damaged. Nothing was changed/);
    expect(await readFile(file())).to.equal(bytes);
  });

  it('is durable: WAL with synchronous=FULL, on both connections', async () => {
    const { db } = await openWriter(home, [step(10)]);
    const reader = openReadOnly(home);
    for (const each of [db, reader]) {
      expect(each.pragma('journal_mode', { simple: true })).to.equal('wal');
      expect(each.pragma('synchronous', { simple: true })).to.equal(2);
      expect(each.pragma('foreign_keys', { simple: true })).to.equal(1);
    }
    expect(() => reader.exec('CREATE TABLE x (a TEXT)')).to.throw(/readonly/);
    reader.close();
    db.close();
  });

  it('is readable by its owner alone, with all that lies beside it', async () => {
    const lock = takeLock(home);
    const { db } = await openWriter(home, [step(10)]);
    const names = (await readdir(home)).sort();
    expect(names).to.include(['adjutant.db', 'adjutant.db-wal', 'lock.db']);
    const found = await Promise.all(names.map((name) => stat(join(home, name))));
    expect([...new Set(found.map(({ mode }) => mode & 0o777))]).to.equal([0o600]);
    db.close();
    lock.close();
  });

  it('is held by one process, and free after it was killed', async () => {
    const module = new URL('../../../src/store/thread/database.js', import.meta.url).href;
    const script = `import { takeLock } from '${module}';
      globalThis.lock = takeLock(process.argv[1]); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script, home]);
    await once(holder.stdout, 'data');
    expect(() => takeLock(home)).to.throw(
      OpenRefused,
      `Another Adjutant already uses the home folder ${home}`,
    );
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    takeLock(home).close();
  });
});
