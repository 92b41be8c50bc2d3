import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { migrations } from '../../migrations/all.js';
import { openWriter } from '../../src/store/thread/database.js';
import { until } from '../harness/app.js';
import { startDaemon, startKilled } from '../harness/daemon.js';
import { idDigits } from '../harness/ids.js';
import { readLedger } from './ledger.js';
import { randomFrom } from './random.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** The schema before executions were their own queue. */
const OLD = migrations.filter(({ version }) => version < 340);
const QUEUED = 10_000;
/** These had been claimed by the daemon that was killed before the upgrade. */
const CLAIMED = 20;
const KILLS = 10;
/** Each start lives somewhat longer than the one before it: the upgrade falls among them. */
const MIN_LIFE_MS = 150;
const LONGER_MS = 120;
const AT = '2026-01-01T00:00:00.000Z';

/** What a daemon of the old schema leaves that was killed with deliveries waiting. */
const fill = (db: Database.Database): void => {
  db.exec(`
    INSERT INTO users (id, username, username_key, password_hash, role, created_at)
    VALUES ('user_old', 'old', 'old', '', 'user', '${AT}');
    INSERT INTO hooks (id, user_id, name, trigger, trigger_config, action, action_config, enabled,
      conditions, created_at, updated_at)
    VALUES ('hook_old', 'user_old', 'old', 'webhook', '{}', 'notify', '{"notifyMessage":"x"}', 1,
      '[]', '${AT}', '${AT}')`);
  const delivery = db.prepare(
    `INSERT INTO deliveries (id, path, method, headers, body, event, sender_id, received_at)
     VALUES (?, 'old', 'POST', '{}', '{"a":1}', NULL, NULL, '${AT}')`,
  );
  const execution = db.prepare(
    `INSERT INTO executions (id, hook_id, user_id, delivery_id, trigger, action, status, created_at)
     VALUES (?, 'hook_old', 'user_old', ?, 'webhook', 'notify', ?, '${AT}')`,
  );
  const job = db.prepare(
    `INSERT INTO jobs (kind, ref, lane, run_at, attempts, boot)
     VALUES ('execution', ?, 'hook_old', '${AT}', ?, ?)`,
  );
  db.transaction(() => {
    for (let n = 0; n < QUEUED; n++) {
      const tail = idDigits(Date.parse(AT), n);
      const claim = n < CLAIMED ? [1, 'boot_old'] : [0, null];
      delivery.run(`delivery_${tail}`);
      execution.run(`execution_${tail}`, `delivery_${tail}`, n < CLAIMED ? 'running' : 'queued');
      job.run(`execution_${tail}`, ...claim);
    }
  })();
};

describe('an upgrade', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-upgrade-'));
    // The first start makes the keys, and the old schema takes the place of its database.
    await (await startDaemon({ home })).end('SIGTERM');
    for (const end of ['', '-wal', '-shm'])
      await rm(join(home, `adjutant.db${end}`), { force: true });
    const { db } = await openWriter(home, OLD);
    fill(db);
    db.close();
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  it('loses and doubles nothing that waited, killed at any moment of it', async () => {
    const seed = Date.now() % 1_000_000;
    const random = randomFrom(seed);
    for (let kill = 0; kill < KILLS; kill++) {
      await startKilled({ home }, MIN_LIFE_MS + (kill + random()) * LONGER_MS);
      const schema = readSchema(home);
      // All of a migration or nothing of it.
      const waits = schema >= 340 ? 'run_at IS NOT NULL' : `status IN ('queued', 'running')`;
      const open = count(home, `SELECT count(*) FROM executions WHERE ${waits}`);
      const jobs = count(home, 'SELECT count(*) FROM jobs');
      const ended = count(home, `SELECT count(*) FROM executions WHERE status = 'success'`);
      const notices = count(home, 'SELECT count(*) FROM notifications');
      expect({ all: open + ended, jobs, notices }, `seed ${seed}, schema ${schema}`).to.equal({
        all: QUEUED,
        jobs: schema >= 340 ? 0 : QUEUED,
        notices: ended,
      });
    }
    const daemon = await startDaemon({ home });
    const { executions, jobs, notices, integrity } = await until(
      async () => readLedger(home),
      (ledger) => ledger.jobs === 0,
    );
    await daemon.end('SIGTERM');
    const statuses = new Set([...executions.values()].map(({ status }) => status));
    expect({ statuses: [...statuses], count: executions.size, jobs, notices, integrity }).to.equal({
      statuses: ['success'],
      count: QUEUED,
      jobs: 0,
      notices: QUEUED,
      integrity: 'ok',
    });
  });
});

const read = <T>(home: string, work: (db: Database.Database) => T): T => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
};

const readSchema = (home: string): number =>
  read(home, (db) => Number(db.pragma('user_version', { simple: true })));

const count = (home: string, sql: string): number =>
  read(home, (db) => Number(db.prepare(sql).pluck().get()));
