import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { migrations } from '../../../migrations/all.js';
import { OpenRefused } from '../../../src/store/engine/protocol.js';
import { openWriter } from '../../../src/store/thread/database.js';
import { triggersOfMigrations } from '../../../src/store/thread/triggers.js';

export const lab = Lab.script();
const { afterEach, beforeEach, describe, it } = lab;

const HUSH = 'CREATE TRIGGER hush BEFORE INSERT ON audit BEGIN SELECT RAISE(IGNORE); END';

interface Case {
  does: string;
  sql: string;
  says: RegExp;
}
const CASES: Case[] = [
  {
    does: 'swallows entries of the audit log',
    sql: HUSH,
    says: /has an unknown trigger hush on the table audit/,
  },
  {
    does: 'is on another table',
    sql: `CREATE TRIGGER rise AFTER INSERT ON users BEGIN
      UPDATE users SET role = 'admin' WHERE id = NEW.id; END`,
    says: /has an unknown trigger rise on the table users/,
  },
  {
    does: 'is gone',
    sql: 'DROP TRIGGER audit_undeleted',
    says: /lacks the trigger audit_undeleted on the table audit/,
  },
  {
    does: 'was replaced',
    sql: 'DROP TRIGGER audit_unchanged; CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN SELECT 1; END',
    says: /has a modified trigger audit_unchanged on the table audit/,
  },
];

describe('the triggers that the build has listed', () => {
  it('are those that the migrations make, of the newest schema', () => {
    const newest = migrations.at(-1);
    expect(newest?.triggers).to.have.length(triggersOfMigrations(migrations).length);
    expect(newest?.triggers).to.equal(triggersOfMigrations(migrations));
  });
});

describe('triggers of a database', () => {
  let home: string;
  const file = () => join(home, 'adjutant.db');
  const run = (sql: string): void => {
    const db = new Database(file());
    db.exec(sql);
    db.close();
  };
  const open = async (steps = migrations): Promise<number[]> => {
    const { db, opened } = await openWriter(home, steps);
    db.close();
    return opened.migrated;
  };

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-triggers-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  for (const { does, sql, says } of CASES) {
    it(`are refused where one ${does}, until what the message says is done`, async () => {
      await open();
      run(sql);
      const error = await expect(open()).to.reject(OpenRefused);
      expect(error.message).to.match(says);
      expect(error.message).to.contain(file());
      const [, remedy = ''] = /: sqlite3 \S+ ["'](.+)["']$/.exec(error.message) ?? [];
      run(remedy);
      expect(await open()).to.equal([]);
    });
  }

  it('are looked at before any step of the schema is made', async () => {
    const older = migrations.filter(({ version }) => version < 300);
    await open(older);
    run(HUSH);
    await expect(open()).to.reject(OpenRefused, /has an unknown trigger hush/);
    const db = new Database(file(), { readonly: true });
    expect(db.pragma('user_version', { simple: true })).to.equal(older.at(-1)?.version);
    db.close();
    run('DROP TRIGGER hush');
    expect(await open()).to.include(300);
  });

  it('are named safely for a terminal', async () => {
    await open();
    run(`CREATE TRIGGER "a'; rm -rf \u001b[31m" AFTER INSERT ON users BEGIN SELECT 1; END`);
    const error = await expect(open()).to.reject(OpenRefused);
    expect(error.message).to.contain(
      `has an unknown trigger "a'; rm -rf ?[31m" on the table users`,
    );
    expect(error.message).not.to.match(/sqlite3|\u001b/);
  });
});
