import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const TASKS = 400;
/** How many have fired when the daemon that fires them is killed. */
const KILLS = [0, 1, 40, 90, 150, 200, 260, 330];

describe('recurring tasks that are due while the daemon is killed', () => {
  let home: string;
  let daemon: Daemon;
  let token: string;
  const client = () => createClient({ url: daemon.url, token });
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'adjutant-test-'));
    daemon = await startDaemon({ home });
    ({ token } = await client().auth.register({ body: { username: 'ada', password: PASSWORD } }));
  });
  after(async () => {
    await daemon.end('SIGKILL');
    await rm(home, { recursive: true, force: true });
  });

  it('each fire once', async () => {
    const schedule = { cron: '0 3 * * *' };
    for (let at = 0; at < TASKS; at++) {
      const body = { title: `r${at}`, schedule, action: 'create_task' as const };
      await client().recurring.create({ body });
    }
    await daemon.end('SIGKILL');
    // As if the daemon had been down at three.
    const db = new Database(join(home, 'adjutant.db'));
    const due = new Date(Date.now() - 5000).toISOString();
    db.prepare('UPDATE recurring_tasks SET next_run_at = ?').run(due);
    db.close();
    const counts: number[] = [];
    for (const fired of KILLS) {
      daemon = await startDaemon({ home });
      while (firedIn(home) < fired) await pause(2);
      await daemon.end('SIGKILL');
      counts.push(firedIn(home));
    }
    daemon = await startDaemon({ home });
    await until(
      async () => firedIn(home),
      (count) => count === TASKS,
      30_000,
    );
    await daemon.end('SIGKILL');
    // Some kills have met the firing, or the test would show nothing.
    expect(counts.filter((count) => count > 0 && count < TASKS).length > 0).to.be.true();
    const odd = oddIn(home, due);
    expect(odd).to.equal([]);
  });
});

/** Returns how many runs the database in that folder has. */
const firedIn = (home: string): number => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  try {
    return Number(db.prepare('SELECT count(*) FROM recurring_runs').pluck().get());
  } finally {
    db.close();
  }
};

/** Returns the recurring tasks that have not fired exactly once. */
const oddIn = (home: string, due: string): unknown[] => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  const odd = db
    .prepare(
      `SELECT r.title,
         (SELECT count(*) FROM tasks AS t WHERE t.recurring_task_id = r.id) AS tasks,
         (SELECT count(*) FROM recurring_runs AS n WHERE n.recurring_task_id = r.id
           AND n.due_at = ? AND n.status = 'success') AS runs
       FROM recurring_tasks AS r WHERE tasks <> 1 OR runs <> 1 OR r.run_count <> 1`,
    )
    .all(due);
  db.close();
  return odd;
};
