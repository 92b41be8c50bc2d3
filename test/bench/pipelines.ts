import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/index.js';
import { PASSWORD, until } from '../harness/app.js';
import { type Daemon, startDaemon } from '../harness/daemon.js';
import { timed } from './threads.js';

const RUNS = 200;
const STAGES = 12;
const ITEMS = 1000;
const RECURRING = 1000;

export interface PipelineFigures {
  /** Stages that call a built-in tool and ended, per second, and their processor time. */
  stagesPerSecond: number;
  stageCpuMs: number;
  /** The processor time of an item of a stage `foreach`. */
  itemCpuMs: number;
  /** Recurring tasks that were due at one moment and have made their task, per second. */
  recurringPerSecond: number;
}

type Client = ReturnType<typeof createClient>;

/** Measures 200 runs of 12 stages at once, a list of 1,000 items, and 1,000 recurring tasks that are due. */
export const measurePipelines = async (): Promise<PipelineFigures> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  try {
    const daemon = await startDaemon({ home });
    const { token } = await createClient({ url: daemon.url }).auth.register({
      body: { username: 'bench', password: PASSWORD },
    });
    const client = createClient({ url: daemon.url, token });
    const stages = await measureStages(daemon, client);
    const itemCpuMs = await measureItems(daemon, client);
    await addRecurring(client);
    await daemon.end('SIGTERM');
    return { ...stages, itemCpuMs, recurringPerSecond: await measureRecurring(home) };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
};

const NOW = { kind: 'tool' as const, config: { toolId: 'time', toolAction: 'now' } };

const ended = async (client: Client, templateId: string, count: number): Promise<void> => {
  await until(
    async () => {
      const query = { templateId, status: 'completed' as const, limit: 200 };
      return (await client.pipelines.list({ query })).pipelines.length;
    },
    (found) => found >= count,
    120_000,
  );
};

const measureStages = async (daemon: Daemon, client: Client) => {
  const stages = Array.from({ length: STAGES }, (_, at) => ({
    key: `s${at}`,
    ...NOW,
    // Two side by side on each of six steps.
    needs: at < 2 ? [] : [`s${at - (at % 2) - 2}`, `s${at - (at % 2) - 1}`],
  }));
  const { id: templateId } = await client.templates.create({
    body: { name: 'Stages', stages, onFinish: { notifyOwner: false } },
  });
  const { ms, cpuMs } = await timed(daemon, async () => {
    const start = () => client.pipelines.start({ body: { templateId } });
    await Promise.all(Array.from({ length: RUNS }, start));
    await ended(client, templateId, RUNS);
  });
  const count = RUNS * STAGES;
  return { stagesPerSecond: (1000 * count) / ms, stageCpuMs: cpuMs / count };
};

const measureItems = async (daemon: Daemon, client: Client): Promise<number> => {
  const items = Array.from({ length: ITEMS }, (_, at) => at);
  const stages = [
    { key: 'each', kind: 'foreach' as const, config: { items, concurrency: 8, stage: NOW } },
  ];
  const { id: templateId } = await client.templates.create({ body: { name: 'Items', stages } });
  const { cpuMs } = await timed(daemon, async () => {
    await client.pipelines.start({ body: { templateId } });
    await ended(client, templateId, 1);
  });
  return cpuMs / ITEMS;
};

const addRecurring = async (client: Client): Promise<void> => {
  for (let at = 0; at < RECURRING; at++) {
    await client.recurring.create({
      body: { title: `r${at}`, schedule: { cron: '0 3 * * *' }, action: 'create_task' },
    });
  }
};

/** Returns how many recurring tasks fire per second that were due while the daemon was down. */
const measureRecurring = async (home: string): Promise<number> => {
  const path = join(home, 'adjutant.db');
  const db = new Database(path);
  const due = new Date(Date.now() - 5000).toISOString();
  db.prepare('UPDATE recurring_tasks SET next_run_at = ?').run(due);
  const daemon = await startDaemon({ home });
  const fired = db.prepare('SELECT count(*) FROM recurring_runs').pluck();
  await until(
    async () => Number(fired.get()),
    (count) => count === RECURRING,
    60_000,
  );
  const [first, last] = db
    .prepare('SELECT min(started_at), max(started_at) FROM recurring_runs')
    .raw()
    .get() as [string, string];
  db.close();
  await daemon.end('SIGTERM');
  return (1000 * RECURRING) / Math.max(1, Date.parse(last) - Date.parse(first));
};
