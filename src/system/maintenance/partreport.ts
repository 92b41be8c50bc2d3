import { statfs } from 'node:fs/promises';
import { JOB as AGENT_JOB } from '../../agents/agent.js';
import type { Models } from '../../agents/models.js';
import { EXECUTION_JOB } from '../../hooks/execute.js';
import type { Queue } from '../../jobs/queue.js';
import type { Clock } from '../../kernel/clock.js';
import { lookAtOutbox } from '../../outbound/statistics.js';
import type { Store } from '../../store/store.js';
import { sayTunnel } from '../tunnel/notice.js';
import type { Tunnel } from '../tunnel/tunnel.js';

export interface PartReport {
  name: string;
  status: 'ok' | 'warn' | 'down';
  /** Milliseconds, if the check took time. */
  latencyMs: number | null;
  detail: string;
}

export interface PartsDeps {
  store: Store;
  clock: Clock;
  queue: Queue;
  /** Queue of outbound messages. */
  outgoing: Queue;
  models: Models;
  home: string;
  tunnel: Tunnel;
  confinement: string;
}

const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 50 * 1024 ** 2;
const LATE_MS = 60_000;
const MANY_BYTES = 1024 ** 2;

/**
 * Returns a function that checks every part of the daemon. A check that fails is reported, not
 * thrown.
 */
export const createLook = (deps: PartsDeps): (() => Promise<PartReport[]>) => {
  const database = databaseOf(deps);
  return () =>
    Promise.all([
      attempt('database', database),
      attempt('queue', () => queue(deps)),
      attempt('channels', () => lookAtOutbox(deps)),
      attempt('disk', () => disk(deps)),
      attempt('models', async () => models(deps)),
      ...(deps.tunnel.row() === null
        ? []
        : [attempt('tunnel', async () => sayTunnel(deps.tunnel))]),
      attempt('confinement', async () => ({
        status: deps.confinement.startsWith('off') ? 'warn' : 'ok',
        detail: deps.confinement,
      })),
    ]);
};

interface PartFinding {
  status?: PartReport['status'];
  detail: string;
}

const attempt = async (name: string, look: () => Promise<PartFinding>): Promise<PartReport> => {
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

/**
 * Checks the database with a real write and a real read, which shows a full or read-only disk. A
 * disk that refused a delivery may still accept a few bytes, so after a refusal the check must
 * write many bytes once.
 */
const databaseOf = ({ store }: PartsDeps): (() => Promise<PartFinding>) => {
  const sql = `INSERT INTO facts (name, value) VALUES ('last_look', ?)
    ON CONFLICT DO UPDATE SET value = excluded.value`;
  let forgiven = 0;
  return async () => {
    const refusals = store.refusals();
    const bytes = refusals > forgiven ? MANY_BYTES : 0;
    await store.transact([{ sql, parameters: [String(Math.random()).padEnd(bytes)] }]);
    await store.db.selectFrom('facts').select('name').limit(1).execute();
    forgiven = refusals;
    return { detail: `schema ${store.opened.schema}` };
  };
};

/** Returns the time that the oldest waiting run has waited, in milliseconds; null if none waits. */
export const longestWait = async ({
  store,
  clock,
}: Pick<PartsDeps, 'store' | 'clock'>): Promise<number | null> => {
  const oldest = await store.db
    .selectFrom('jobs')
    .select('run_at')
    .where('boot', 'is', null)
    .where('kind', 'in', [EXECUTION_JOB, AGENT_JOB])
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return oldest ? Math.max(0, clock.now() - Date.parse(oldest.run_at)) : null;
};

const queue = async (deps: PartsDeps): Promise<PartFinding> => {
  const { waiting, running } = deps.queue.totals();
  const waitMs = await longestWait(deps);
  const oldest = waitMs === null ? '' : `, oldest ${(waitMs / 1000).toFixed(1)} s`;
  return {
    status: (waitMs ?? 0) > LATE_MS ? 'warn' : 'ok',
    detail: `${waiting} waiting${oldest}, ${running} running`,
  };
};

/**
 * Reports models that are down or cool down. This is a warning only, since another model answers
 * instead.
 */
const models = ({ models }: PartsDeps): PartFinding => {
  const states = models.states();
  const isIll = (status: string) => status === 'down' || status === 'cooling';
  const said = states.map(({ name, status }) => (isIll(status) ? `${name} (${status})` : name));
  return {
    status: states.some(({ status }) => isIll(status)) ? 'warn' : 'ok',
    detail: said.join(', '),
  };
};

const disk = async ({ home }: PartsDeps): Promise<PartFinding> => {
  const { bavail, bsize } = await statfs(home);
  const free = bavail * bsize;
  const status = free < FULL_BYTES ? 'down' : free < LOW_BYTES ? 'warn' : 'ok';
  return { status, detail: `${(free / 1024 ** 3).toFixed(1)} GB free` };
};
