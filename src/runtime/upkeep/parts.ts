import { statfs } from 'node:fs/promises';
import type { Clock } from '../../kernel/clock.js';
import type { Store } from '../../store/store.js';
import type { Models } from '../agents/models.js';
import type { Queue } from '../jobs/queue.js';

export interface PartReport {
  name: string;
  status: 'ok' | 'warn' | 'down';
  /** Milliseconds, where asking took time. */
  latencyMs: number | null;
  detail: string;
}

export interface PartsDeps {
  store: Store;
  clock: Clock;
  queue: Queue;
  models: Models;
  home: string;
  confinement: string;
}

const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;
const LATE_MS = 60_000;

/** Looks at every part of the daemon now; one that fails is reported, not thrown. */
export const lookAtParts = async (deps: PartsDeps): Promise<PartReport[]> =>
  Promise.all([
    attempt('database', () => database(deps)),
    attempt('queue', () => queue(deps)),
    attempt('disk', () => disk(deps)),
    attempt('models', async () => ({ detail: deps.models.names().join(', ') })),
    attempt('confinement', async () => ({
      status: deps.confinement.startsWith('off') ? 'warn' : 'ok',
      detail: deps.confinement,
    })),
  ]);

interface Finding {
  status?: PartReport['status'];
  detail: string;
}

const attempt = async (name: string, look: () => Promise<Finding>): Promise<PartReport> => {
  const since = performance.now();
  const took = (): number => Math.round((performance.now() - since) * 100) / 100;
  try {
    const { status = 'ok', detail } = await look();
    return { name, status, latencyMs: took(), detail };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { name, status: 'down', latencyMs: took(), detail };
  }
};

/** A real write and a real read: a full or read-only disk shows here. */
const database = async ({ store }: PartsDeps): Promise<Finding> => {
  const sql = `INSERT INTO facts (name, value) VALUES ('last_look', ?)
    ON CONFLICT DO UPDATE SET value = excluded.value`;
  await store.transact([{ sql, parameters: [String(Math.random())] }]);
  await store.db.selectFrom('facts').select('value').limit(1).execute();
  return { detail: `schema ${store.opened.schema}` };
};

const queue = async ({ store, clock, queue }: PartsDeps): Promise<Finding> => {
  const { waiting, running } = queue.totals();
  const oldest = await store.db
    .selectFrom('jobs')
    .select('run_at')
    .where('boot', 'is', null)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const ageMs = oldest ? Math.max(0, clock.now() - Date.parse(oldest.run_at)) : 0;
  const age = oldest ? `, oldest ${(ageMs / 1000).toFixed(1)} s` : '';
  return {
    status: ageMs > LATE_MS ? 'warn' : 'ok',
    detail: `${waiting} waiting${age}, ${running} running`,
  };
};

const disk = async ({ home }: PartsDeps): Promise<Finding> => {
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const status = free < FULL_BYTES ? 'down' : free < LOW_BYTES ? 'warn' : 'ok';
  return { status, detail: `${(free / 1024 ** 3).toFixed(1)} GB free` };
};
