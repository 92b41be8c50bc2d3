import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { addHook, registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { idDigits } from '../harness/ids.js';
import { randomFrom } from './random.js';
import { startSink } from './sink.js';

export const lab = Lab.script();
const { describe, it } = lab;

const FAILED = 2000;
const MAX_KILLS = 8;

/** Adds failed executions of a hook, each with a delivery, as an outage leaves them. */
const addFailures = (home: string, hookId: string): void => {
  const db = new Database(join(home, 'adjutant.db'));
  const at = Date.now() - 3600_000;
  const { user_id } = db.prepare('SELECT user_id FROM hooks WHERE id = ?').get(hookId) as {
    user_id: string;
  };
  const delivery = db.prepare(
    `INSERT INTO deliveries (id, path, method, headers, body, received_at)
     VALUES (?, 'down', 'POST', '{}', ?, ?)`,
  );
  const execution = db.prepare(
    `INSERT INTO executions (id, hook_id, user_id, delivery_id, trigger, action, status, error,
       created_at, finished_at) VALUES (?, ?, ?, ?, 'webhook', 'webhook', 'error', 'down', ?, ?)`,
  );
  db.transaction(() => {
    for (let n = 0; n < FAILED; n++) {
      const time = new Date(at + n).toISOString();
      const digits = idDigits(at + n, n);
      const id = `delivery_${digits}`;
      delivery.run(id, JSON.stringify({ n }), time);
      execution.run(`execution_${digits}`, hookId, user_id, id, time, time);
    }
  })();
  db.close();
};

/** How often each failed execution was replayed, and how each replay ended. */
const replaysIn = (home: string) => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  const rows = db
    .prepare<[], { times: number; status: string }>(
      `SELECT count(*) AS times, min(status) AS status FROM executions
       WHERE replay_of IS NOT NULL GROUP BY replay_of`,
    )
    .all();
  const count = (sql: string): number => Number(db.prepare(sql).pluck().get());
  const jobs = count('SELECT count(*) FROM jobs');
  const waiting = count('SELECT count(*) FROM executions WHERE run_at IS NOT NULL');
  db.close();
  return {
    replayed: rows.length,
    twice: rows.filter(({ times }) => times > 1).length,
    jobs,
    waiting,
  };
};

/** Begins the replay, and kills the daemon at random moments until it has ended or often enough. */
const killed = async (
  home: string,
  { sinkPort, random }: { sinkPort: number; random(): number },
): Promise<{ kills: number; status: string; result: unknown }> => {
  const env = { ADJUTANT_EGRESS_ALLOW: `127.0.0.1:${sinkPort}` };
  let daemon: Daemon = await startDaemon({ home, env });
  try {
    const owner = await registerOwner(daemon.url);
    const hookId = await addHook(owner, {
      ...{ name: 'down', path: 'down', secret: 'a secret of the outage', action: 'webhook' },
      ...{ actionConfig: { webhookUrl: `http://127.0.0.1:${sinkPort}/` }, concurrency: 8 },
    });
    await daemon.end('SIGTERM');
    addFailures(home, hookId);
    daemon = await startDaemon({ home, env });
    const client = () => owner.with({ url: daemon.url });
    const since = new Date(Date.now() - 7200_000).toISOString();
    const { id } = await client().replays.create({ body: { since } });
    const operation = () => client().operations.get({ id });
    let kills = 0;
    while (kills < MAX_KILLS && (await operation()).status !== 'completed') {
      await wait(random() * 400);
      await daemon.end('SIGKILL');
      kills++;
      daemon = await startDaemon({ home, env });
    }
    const isOver = ({ status }: { status: string }) => !['queued', 'running'].includes(status);
    const { status, result } = await until(operation, isOver);
    await until(
      async () => replaysIn(home),
      ({ jobs, waiting }) => jobs + waiting === 0,
      120_000,
    );
    return { kills, status, result };
  } finally {
    await daemon.end('SIGKILL');
  }
};

describe('an operation of 2,000 replays', () => {
  it('that is killed several times replays each exactly once', async () => {
    const seed = Date.now() % 1_000_000;
    const home = await mkdtemp(join(tmpdir(), 'adjutant-replays-'));
    const sink = await startSink();
    try {
      const { kills, status, result } = await killed(home, {
        sinkPort: sink.port,
        random: randomFrom(seed),
      });
      expect(status, `seed ${seed}`).to.equal('completed');
      expect(result).to.equal({ replayed: FAILED, skipped: 0, reasons: {} });
      expect(kills).to.be.above(3);
      const left = replaysIn(home);
      expect(left, `seed ${seed}`).to.equal({ replayed: FAILED, twice: 0, jobs: 0, waiting: 0 });
      expect(sink.effects.size).to.equal(FAILED);
    } finally {
      sink.close();
      await rm(home, { recursive: true });
    }
  });
});
