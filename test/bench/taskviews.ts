import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/index.js';
import { timeDigits } from '../../src/kernel/ids.js';
import { PASSWORD } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { median, quantile } from './load.js';
import { fillTasks, taskViewsOf } from './tasks.js';
import { threadsOf, usedSince } from './threads.js';

const CALLS = 200;
const WARM_UP = 20;

/** The milliseconds of one view. */
export interface ViewFigures {
  p50: number;
  p95: number;
  /** The processor time of the daemon for each call, which other work beside it hardly changes. */
  cpu: number;
}

/**
 * Measures each view of the 10,000 tasks of a user, the second page of those that have one, and the
 * calendar, one call after the other, beside the tasks of another user.
 */
export const measureTasks = async (): Promise<Record<string, ViewFigures>> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  try {
    const { token, digits } = await fillHome(home);
    const daemon = await startDaemon({ home });
    const client = createClient({ url: daemon.url, token });
    const { token: calendar } = await client.tasks.feed({});
    const read = async (path: string): Promise<string> => {
      const headers = { authorization: `Bearer ${token}` };
      const reply = await fetch(`${daemon.url}${path}`, { headers });
      if (!reply.ok) throw new Error(`${path} was answered with ${reply.status}`);
      return reply.text();
    };
    const figures: Record<string, ViewFigures> = {};
    const measure = async (name: string, path: string): Promise<void> => {
      figures[name] = await timesOf(daemon, () => read(path));
    };
    for (const [name, path] of Object.entries(taskViewsOf(digits))) {
      const { nextCursor } = JSON.parse(await read(path));
      await measure(name, path);
      if (nextCursor === null) continue;
      await measure(`${name}, page 2`, `${path}&cursor=${encodeURIComponent(nextCursor)}`);
    }
    await measure('tasks.ics', `/api/tasks.ics?token=${calendar}`);
    await daemon.end('SIGTERM');
    return figures;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

const timesOf = async ({ pid }: Daemon, call: () => Promise<unknown>): Promise<ViewFigures> => {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP; round++) await call();
  const before = await threadsOf(pid);
  for (let round = 0; round < CALLS; round++) {
    const since = performance.now();
    await call();
    times.push(performance.now() - since);
  }
  const used = usedSince(before, await threadsOf(pid));
  const cpu = used.reduce((all, us) => all + us, 0) / 1000 / CALLS;
  times.sort((a, b) => a - b);
  return { p50: median(times), p95: quantile(times, 0.95), cpu };
};

/** Fills a home with the tasks of a user, and as many of another. */
const fillHome = async (home: string): Promise<{ token: string; digits: string }> => {
  const daemon = await startDaemon({ home });
  const client = createClient({ url: daemon.url });
  const register = (username: string) =>
    client.auth.register({ body: { username, password: PASSWORD } });
  const { token, user } = await register('bench');
  const other = await register('other');
  await daemon.end('SIGTERM');
  const db = new Database(join(home, 'adjutant.db'));
  db.pragma('synchronous = OFF');
  const now = Date.now();
  const at = new Date(now).toISOString();
  const digits = timeDigits(now);
  fillTasks(db, { userId: user.id, digits, at });
  fillTasks(db, { userId: other.user.id, digits: timeDigits(now - 1), at });
  db.close();
  return { token, digits };
};
