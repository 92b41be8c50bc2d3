import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { ApiError } from '../../src/client/index.js';
import { addHook, loginOwner, type Owner, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { openTarget } from '../harness/target.js';
import { fill, mountTmpfs, whyNoMount } from './mount.js';

export const lab = Lab.script();
const { describe, it, beforeEach, afterEach } = lab;

/** So many that the daemon is killed long before the last of them. */
const MANY = 60_000;
const AT = '2026-01-01T00:00:00.000Z';
const NUMBERS = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY})`;
const EXECUTIONS = `${NUMBERS}
  INSERT INTO executions (id, hook_id, user_id, trigger, action, status, created_at)
  SELECT 'execution_' || i, h.id, h.user_id, 'webhook', 'notify', 'success', '${AT}'
  FROM n JOIN hooks AS h`;
const WAITING = `${NUMBERS}
  INSERT INTO sendings (id, user_id, webhook_id, cause_id, kind, content, status, next_at, created_at)
  SELECT 'sending_' || i, w.user_id, w.id, 'event_' || i, 'hook.executed',
    '{"type":"hook.executed","timestamp":"${AT}","data":{}}', 'queued', '9999-01-01', '${AT}'
  FROM n JOIN webhooks AS w`;
const JOBS = `INSERT INTO jobs (kind, ref, lane, run_at)
  SELECT 'sending', id, webhook_id, next_at FROM sendings`;

describe('a change of many rows, killed in the middle', () => {
  let home: string;
  let daemon: Daemon;
  let owner: Owner;
  let db: Database.Database;
  const env = { ADJUTANT_EGRESS_ALLOW: '127.0.0.1' };
  const count = (rows: string) => Number(db.prepare(`SELECT count(*) FROM ${rows}`).pluck().get());
  /** Begins the change, and kills the daemon when it has changed some of the rows. */
  const killedIn = async (change: Promise<unknown>, rows: string) => {
    const ended = change.catch(() => undefined);
    await until(
      async () => count(rows),
      (left) => left < MANY,
      10_000,
    );
    await daemon.end('SIGKILL');
    await ended;
    expect(count(rows), 'rows that are left').to.be.above(0);
    daemon = await startDaemon({ home, env });
    owner = await loginOwner(daemon.url);
  };
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-steps-'));
    daemon = await startDaemon({ home, env });
    owner = await registerOwner(daemon.url);
    db = new Database(join(home, 'adjutant.db'));
  });
  afterEach(async () => {
    db.close();
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true });
  });

  it('is a deletion that the next start ends', async () => {
    const notify = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
    const given = { name: 'much', path: 'much', secret: 'a secret', ...notify };
    const id = await addHook(owner, given);
    db.exec(EXECUTIONS);
    await killedIn(owner.hooks.delete({ id }), 'executions');
    await until(
      async () => count('hooks'),
      (hooks) => hooks === 0,
      30_000,
    );
    expect([count('executions'), count('jobs')]).to.equal([0, 0]);
    expect((await owner.hooks.list({})).hooks).to.equal([]);
  });

  it('sends nothing of what waited for a webhook that was disabled, when it is enabled again', async () => {
    const target = await openTarget();
    const body = { name: 'much', url: target.url, events: ['*' as const] };
    const { id } = await owner.webhooks.create({ body });
    db.exec(`BEGIN; ${WAITING}; ${JOBS}; COMMIT`);
    const disabled = owner.webhooks.update({ id, body: { enabled: false } });
    await killedIn(disabled, `sendings WHERE status = 'queued'`);
    expect((await owner.webhooks.get({ id })).enabled).to.be.false();
    db.exec(`UPDATE jobs SET run_at = '${AT}'`);
    await owner.webhooks.update({ id, body: { enabled: true } });
    expect(count(`sendings WHERE status = 'failed'`)).to.equal(MANY);
    expect(count('jobs')).to.equal(0);
    expect(target.received).to.equal([]);
    target.close();
  });
});

/** Enough for the beginning of a deletion, and not for all of it. */
const ROOM_BYTES = 2 * 1024 * 1024;
const NO_MOUNT = whyNoMount();

describe('a deletion on a full disk', () => {
  const codeOf = (refused: unknown): string | undefined =>
    refused instanceof ApiError ? refused.code : String(refused);

  it('goes on when there is room, and the hook cannot be enabled meanwhile', {
    skip: NO_MOUNT !== null,
  }, async () => {
    const disk = await mkdtemp(join(tmpdir(), 'adjutant-steps-'));
    const unmount = mountTmpfs(disk, 100);
    const home = join(disk, 'home');
    const daemon = await startDaemon({ home });
    const owner = await registerOwner(daemon.url);
    const notify = { action: 'notify' as const, actionConfig: { notifyMessage: 'x' } };
    const given = { name: 'much', path: 'much', secret: 'a secret', ...notify };
    const id = await addHook(owner, given);
    const db = new Database(join(home, 'adjutant.db'));
    db.exec(EXECUTIONS);
    const left = db.prepare<[], number>('SELECT count(*) FROM executions').pluck();
    db.pragma('wal_checkpoint(TRUNCATE)');
    const empty = await fill(disk, ROOM_BYTES);
    const deleted = owner.hooks.delete({ id }).catch(codeOf);
    expect(await deleted).to.equal('deletion_continues');
    expect(Number(left.get())).to.be.between(0, MANY);
    // Right after a write that found no room, others are refused for that.
    const enabled = await until(
      () => owner.hooks.enable({ id }).catch(codeOf),
      (code) => code !== 'storage_unavailable',
    );
    expect(enabled).to.equal('hook_being_deleted');
    await empty();
    await until(
      async () => (await owner.hooks.list({})).hooks.length,
      (count) => count === 0,
      20_000,
    );
    expect(left.get()).to.equal(0);
    db.close();
    await daemon.end('SIGTERM');
    unmount();
    await rm(disk, { recursive: true });
  });
});
