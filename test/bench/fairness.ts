import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { queueDeliveries } from '../faults/queue.js';
import { startDaemon } from '../harness/daemon.js';
import { SECRET, startAdjutant } from './contenders.js';
import { startGenerator } from './load.js';

const SENT = 200;
const PAUSE_MS = 25;

export interface FairnessFigures {
  /** Runs of one hook that waited at the start, and that still did at the end. */
  queued: number;
  left: number;
  /** Of another hook: from the delivery to the end of its run, in milliseconds. */
  p50: number;
  p99: number;
}

/** Measures how long the runs of a hook take while very many of another hook are under way. */
export const measureFairness = async (queued: number): Promise<FairnessFigures> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  await (await startDaemon({ home })).end('SIGTERM');
  queueDeliveries(home, queued);
  const { daemon, path, stop } = await startAdjutant('judged', { home });
  const generator = startGenerator();
  const load = { kind: 'deliveries' as const, url: daemon.url, path, secret: SECRET };
  await generator.run({ ...load, seed: 'fair', count: SENT, connections: 1, pauseMs: PAUSE_MS });
  const { times, left } = readTimes(join(home, 'adjutant.db'));
  generator.close();
  await stop();
  await rm(home, { recursive: true });
  if (left === 0) throw new Error('Nothing waited any more: queue more runs');
  const at = (share: number): number => times[Math.ceil(share * times.length) - 1] ?? 0;
  return { queued, left, p50: at(0.5), p99: at(0.99) };
};

/** The times that runs took, in their order of length, and the number of runs that still wait. */
const readTimes = (file: string): { times: number[]; left: number } => {
  const db = new Database(file, { readonly: true });
  const rows = db
    .prepare<[], { created_at: string; finished_at: string | null }>(
      `SELECT created_at, finished_at FROM executions WHERE hook_id != 'hook_queued'`,
    )
    .all();
  const left = db.prepare(
    `SELECT count(*) FROM executions WHERE hook_id = 'hook_queued' AND run_at IS NOT NULL`,
  );
  const times = rows.flatMap(({ created_at, finished_at }) =>
    finished_at === null ? [] : [Date.parse(finished_at) - Date.parse(created_at)],
  );
  const found = { times: times.sort((a, b) => a - b), left: Number(left.pluck().get()) };
  db.close();
  return found;
};
