import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { verifyHome } from '../../src/auditverify.js';
import { verifyFile } from '../../src/backup.js';
import { OpenRefused } from '../../src/store/engine/protocol.js';
import { adjutant } from '../cli/harness.js';
import { startApp, type TestApp } from '../harness/app.js';
import { openStage, PASSPHRASE } from '../system/backup/stage.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const HUSH = 'CREATE TRIGGER hush BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END';

/** Runs SQL on the database of a home, as somebody does who can write the file. */
const edit = (home: string, ...statements: string[]): void => {
  const db = new Database(join(home, 'adjutant.db'));
  for (const sql of statements) db.exec(sql);
  db.close();
};

/** Changes an entry past the triggers that protect the log, and puts them back. */
const changeEntry = (home: string, number: number): void => {
  const db = new Database(join(home, 'adjutant.db'));
  const triggers = db
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'`,
    )
    .all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  db.prepare(`UPDATE audit SET target = 'somebody else' WHERE number = ?`).run(number);
  for (const { sql } of triggers) db.exec(sql);
  db.close();
};

describe('a changed entry of the audit log', () => {
  let app: TestApp;
  let token: string;
  beforeEach(async () => {
    app = await startApp();
    ({ token } = await app.register('ada'));
    for (const path of ['/api/admin/audit', '/api/admin/backups']) {
      await app.call('GET', path, { token });
    }
  });
  afterEach(() => app.stop());

  const audit = async () => {
    const { body } = await app.call('GET', '/api/admin/doctor', { token });
    return body.findings.find(({ name }: { name: string }) => name === 'audit');
  };

  it('is found by doctor while the daemon runs', async () => {
    expect(await audit()).to.include({
      status: 'ok',
      detail: 'its heads are written to audit.head',
    });
    changeEntry(app.home, 1);
    expect(await audit()).to.include({
      status: 'fail',
      detail: 'Entry 1 was changed',
    });
  });

  it('is found by doctor where it was removed', async () => {
    const drop = 'DROP TRIGGER audit_undeleted';
    edit(app.home, drop, 'DELETE FROM audit WHERE number = 2');
    expect(await audit()).to.include({
      status: 'fail',
      detail: 'Entry 2 is missing, but later entries exist',
    });
  });
});

describe('doctor', () => {
  for (const [raised, finding] of [
    [
      `'database or disk is full'`,
      {
        detail: 'its entries cannot be written: the disk is full',
        remedy: 'free disk space: nothing can be stored otherwise',
      },
    ],
    [`'odd'`, { detail: 'The audit log is not writable: odd', remedy: 'adjutant logs --last 50' }],
  ] as const) {
    it(`looks though its own entry cannot be written: ${raised}`, async () => {
      const app = await startApp();
      const { token } = await app.register('ada');
      edit(
        app.home,
        `CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, ${raised}); END`,
      );
      const { status, body } = await app.call('GET', '/api/admin/doctor', { token });
      const found = body.findings.find(({ name }: { name: string }) => name === 'audit');
      expect([status, found]).to.equal([200, { name: 'audit', status: 'fail', ...finding }]);
      const list = await app.call('GET', '/api/admin/audit', { token });
      expect([list.status, list.body.code]).to.equal([503, 'storage_unavailable']);
      edit(app.home, 'DROP TRIGGER full');
      await app.stop();
    });
  }
});

describe('the audit log of a stopped home', () => {
  let folder: string;
  let home: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adjutant-stopped-'));
    home = join(folder, 'a home');
    mkdirSync(home);
    const app = await startApp({ home });
    const { token } = await app.register('ada');
    await app.call('GET', '/api/admin/audit', { token });
    await app.stop();
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** All that is in the home: names, contents and times. */
  const held = (): string[] =>
    readdirSync(home, { recursive: true, withFileTypes: true })
      .map((each) => {
        const path = join(each.parentPath, each.name);
        const { mtimeMs, size } = statSync(path);
        const content = each.isFile() ? readFileSync(path) : '';
        return `${path} ${size} ${mtimeMs} ${createHash('sha256').update(content).digest('hex')}`;
      })
      .sort();

  it('is verified without a daemon, and nothing is written', async () => {
    const before = held();
    const verdict = await verifyHome({ home });
    expect([verdict.ok, verdict.problem, verdict.head?.number]).to.equal([
      ...[true, null, verdict.entries],
    ]);
    expect(verdict.entries).to.be.above(0);
    expect(held()).to.equal(before);
  });

  it('shows an entry that was changed, and one that was cut', async () => {
    const { entries } = await verifyHome({ home });
    changeEntry(home, 1);
    expect((await verifyHome({ home })).problem).to.equal({
      ...{ number: 1, kind: 'changed', message: 'Entry 1 was changed' },
    });
    edit(home, 'DROP TRIGGER audit_undeleted', `DELETE FROM audit WHERE number = ${entries}`);
    const { ok, problem } = await verifyHome({ home });
    expect([ok, problem?.number]).to.equal([false, 1]);
  });

  it('is verified by the command line', async () => {
    const verify = () =>
      adjutant(['audit', 'verify', '--offline', '--home', home, '--fields', 'ok,number,kind']);
    const good = await verify();
    expect([good.code, good.stdout]).to.equal([0, 'true\t\t\n']);
    changeEntry(home, 1);
    const damaged = await verify();
    expect([damaged.code, damaged.stdout]).to.equal([1, 'false\t1\tchanged\n']);
  });

  it('is verified with what a killed daemon left beside the database', async () => {
    const db = new Database(join(home, 'adjutant.db'));
    db.pragma('journal_mode = WAL');
    db.pragma('wal_autocheckpoint = 0');
    db.exec(`DROP TRIGGER audit_unchanged; UPDATE audit SET target = 'x' WHERE number = 1`);
    expect(statSync(join(home, 'adjutant.db-wal')).size).to.be.above(0);
    expect((await verifyHome({ home })).problem?.kind).to.equal('changed');
    db.close();
  });

  it('is refused while a daemon runs there', async () => {
    const app = await startApp({ home });
    await expect(verifyHome({ home })).to.reject(
      OpenRefused,
      `Another Adjutant already uses the home folder ${home}`,
    );
    await app.stop();
    expect((await verifyHome({ home })).ok).to.be.true();
  });

  it('is refused without its key or its database, and neither is made', async () => {
    rmSync(join(home, 'keys/master.key'));
    await expect(verifyHome({ home })).to.reject(
      OpenRefused,
      /master\.key is missing\. Restore the file/,
    );
    expect(readdirSync(join(home, 'keys'))).to.equal([]);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    await expect(verifyHome({ home: empty })).to.reject(OpenRefused);
    expect(readdirSync(empty)).to.equal([]);
  });

  it('names a remedy that a shell takes as one word', async () => {
    edit(home, HUSH);
    const error = await expect(startApp({ home })).to.reject(OpenRefused);
    expect(error.message).to.contain(
      `Then remove the trigger: sqlite3 '${join(home, 'adjutant.db')}' 'DROP TRIGGER hush'`,
    );
  });
});

describe('the verification of a backup', () => {
  it('names no scratch copy where a trigger is foreign', async () => {
    const stage = await openStage();
    edit(stage.app.home, 'CREATE TRIGGER rise AFTER INSERT ON users BEGIN SELECT 1; END');
    const { file } = await stage.made();
    const verify = verifyFile({ file, passphrase: PASSPHRASE }, () => undefined).done;
    await expect(verify).to.reject(
      'The database in the backup has an unknown trigger rise on the table users, which may hide or change writes. Use another backup',
    );
    await stage.stop();
    expect(existsSync(stage.folder)).to.be.false();
  });
});
