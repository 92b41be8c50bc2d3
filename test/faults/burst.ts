import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { mint } from '../../src/kernel/ids.js';
import { webhooks } from '../../src/resources/webhooks/contract.js';
import { registerOwner } from '../harness/account.js';
import { until } from '../harness/app.js';
import { startDaemon } from '../harness/daemon.js';
import { type Endpoints, type Manner, openEndpoints } from './endpoints.js';

export interface Burst {
  messages: number;
  endpoints: number;
  /** Whether every second endpoint fails. */
  isHalfFailing: boolean;
}

export interface Drain {
  expected: number;
  arrived: number;
  seconds: number;
  /** Messages that arrived, a second. */
  rate: number;
}

const FAILING: Manner[] = ['broken', 'hanging', 'refusing'];

/** How fast messages arrive that all wait when the daemon starts, from when it is ready. */
export const burst = async (given: Burst): Promise<Drain> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-burst-'));
  const endpoints = await openEndpoints((body) => JSON.parse(body).data.n);
  const env = { ADJUTANT_EGRESS_ALLOW: endpoints.addresses.join() };
  let daemon = await startDaemon({ home, env });
  try {
    const targets = await addWebhooks(daemon.url, given, endpoints);
    await daemon.end('SIGTERM');
    const expected = queueMessages(home, given.messages, targets);
    daemon = await startDaemon({ home, env });
    const since = performance.now();
    const count = async () => endpoints.arrivals.size;
    const arrived = await until(count, (size) => size >= expected, 120_000).catch(count);
    const seconds = (performance.now() - since) / 1000;
    return { expected, arrived, seconds, rate: Math.round(arrived / seconds) };
  } finally {
    await daemon.end('SIGKILL');
    endpoints.close();
    await rm(home, { recursive: true });
  }
};

interface Waiting {
  id: string;
  isGood: boolean;
}

const addWebhooks = async (url: string, given: Burst, of: Endpoints): Promise<Waiting[]> => {
  const owner = await registerOwner(url);
  const targets: Waiting[] = [];
  for (let n = 0; n < given.endpoints; n++) {
    const isGood = !given.isHalfFailing || n % 2 === 0;
    const manner = isGood ? 'good' : (FAILING[((n - 1) / 2) % FAILING.length] ?? 'broken');
    const name = `endpoint-${n}`;
    const body = { name, url: of.url(manner, name), events: ['task.completed' as const] };
    const { id } = await owner.call(webhooks.create, { body });
    targets.push({ id, isGood });
  }
  return targets;
};

/** As a daemon that was killed leaves them; resolves to how many are for good endpoints. */
const queueMessages = (home: string, messages: number, targets: Waiting[]): number => {
  const db = new Database(join(home, 'adjutant.db'));
  const at = new Date().toISOString();
  const sending = db.prepare(
    `INSERT INTO sendings (id, user_id, webhook_id, cause_id, kind, content, status, created_at)
     SELECT ?, user_id, id, ?, 'task.completed', ?, 'queued', ? FROM webhooks WHERE id = ?`,
  );
  const job = db.prepare(`INSERT INTO jobs (kind, ref, lane, run_at) VALUES ('sending', ?, ?, ?)`);
  let good = 0;
  const add = db.transaction(() => {
    for (let n = 0; n < messages; n++) {
      const { id: target = '', isGood = false } = targets[n % targets.length] ?? {};
      const id = mint('sending', Date.now());
      const content = { type: 'task.completed', timestamp: at, data: { n } };
      sending.run(id, mint('event', Date.now()), JSON.stringify(content), at, target);
      job.run(id, target, at);
      if (isGood) good++;
    }
  });
  add();
  db.close();
  return good;
};
