import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { migrations } from '../../migrations/all.js';

export const lab = Lab.script();
const { describe, it } = lab;

const AT = '2026-03-01T12:00:00.000Z';
const STATES = ['queued', 'sending', 'sent', 'failed', 'unknown'];
const OWNER = `INSERT INTO users (id, username, username_key, password_hash, role, created_at)
  VALUES ('user_1', 'ann', 'ann', '', 'user', '${AT}')`;
const webhook = (id: string) => `INSERT INTO webhooks
  (id, user_id, name, url, events, secret_sealed, enabled, created_at, updated_at)
  VALUES ('${id}', 'user_1', '${id}', 'https://a.example', '[]', '', 1, '${AT}', '${AT}')`;

/** A database before or after the counters came. */
const open = (before: number) => {
  const db = new Database(':memory:');
  db.pragma('foreign_keys = ON');
  for (const { version, sql } of migrations) if (version < before) db.exec(sql);
  db.exec([OWNER, webhook('webhook_1'), webhook('webhook_2')].join(';'));
  const insert = db.prepare(
    `INSERT INTO sendings (id, user_id, webhook_id, cause_id, kind, content, status, created_at)
     VALUES (?, 'user_1', ?, ?, 'ping', '{}', ?, '${AT}')`,
  );
  const add = (n: number): void => {
    insert.run(`sending_${n}`, `webhook_${(n % 2) + 1}`, `cause_${n}`, STATES[n % 5]);
  };
  const counted = () =>
    db
      .prepare('SELECT webhook_id, status, count FROM webhook_counts WHERE count > 0 ORDER BY 1, 2')
      .all();
  const there = () =>
    db
      .prepare(
        `SELECT webhook_id, status, count(*) AS count FROM sendings
         GROUP BY webhook_id, status ORDER BY 1, 2`,
      )
      .all();
  return { db, add, counted, there };
};

describe('the counters of the database', () => {
  it('follow the deliveries of webhooks, however they change', () => {
    const { db, add, counted, there } = open(Number.POSITIVE_INFINITY);
    for (let n = 0; n < 40; n++) add(n);
    expect(counted()).to.equal(there());
    expect(counted()).to.have.length(10);
    db.exec(`UPDATE sendings SET status = 'sent' WHERE status IN ('queued', 'sending')`);
    db.exec(`UPDATE sendings SET attempts = 1`);
    expect(counted()).to.equal(there());
    db.exec(`DELETE FROM sendings WHERE id < 'sending_2'`);
    expect(counted()).to.equal(there());
    db.exec(`DELETE FROM webhooks WHERE id = 'webhook_1'`);
    expect(counted()).to.equal(there());
    expect(counted()).to.have.length(3);
    db.close();
  });

  it('begin with what was there before them', () => {
    const { db, add, counted, there } = open(350);
    for (let n = 0; n < 20; n++) add(n);
    for (const { version, sql } of migrations) if (version >= 350) db.exec(sql);
    expect(counted()).to.equal(there());
    expect(counted()).to.have.length(10);
    add(20);
    expect(counted()).to.equal(there());
    db.close();
  });

  it('count the executions of each minute, deleted ones too', () => {
    const { db } = open(Number.POSITIVE_INFINITY);
    db.exec(`INSERT INTO hooks (id, user_id, name, trigger, trigger_config, action, action_config,
        enabled, conditions, created_at, updated_at)
      VALUES ('hook_1', 'user_1', 'h', 'webhook', '{}', 'notify', '{}', 1, '[]', '${AT}', '${AT}')`);
    const insert = db.prepare(
      `INSERT INTO executions (id, hook_id, user_id, trigger, action, status, created_at)
       VALUES (?, 'hook_1', 'user_1', 'webhook', 'notify', 'queued', ?)`,
    );
    const count = db.prepare(`UPDATE hooks SET executions = executions + ? WHERE id = 'hook_1'`);
    for (const [n, second] of ['12:00:01', '12:00:59', '12:01:00', '12:01:00'].entries()) {
      insert.run(`execution_${n}`, `2026-03-01T${second}.000Z`);
      if (n !== 2) count.run(n === 3 ? 2 : 1);
    }
    db.exec(`UPDATE hooks SET executions = 0, runs = 7`);
    db.exec(`DELETE FROM executions WHERE id = 'execution_0'`);
    expect(db.prepare('SELECT minute, count FROM execution_minutes').all()).to.equal([
      { minute: '2026-03-01T12:00', count: 2 },
      { minute: '2026-03-01T12:01', count: 2 },
    ]);
    db.close();
  });
});
