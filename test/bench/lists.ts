import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createClient } from '../../src/client/client.js';
import { timeDigits } from '../../src/kernel/ids.js';
import { startDaemon } from '../harness/daemon.js';
import { median } from './load.js';
import { fillTasks, taskViewsOf } from './tasks.js';

const MILLION = 1_000_000;
const HOOKS = 10_000;
const MESSAGES = 500_000;
/** The most of one user, each of which has 30 words. */
const MEMORIES = 5000;
const WORDS = 30;
const ROUNDS = 9;

/** What the database was filled with. */
interface Filled {
  hook: string;
  webhook: string;
  /** The time digits of the ids. */
  digits: string;
}

/** The lists with their filters, where `hook` is the one that has run most. */
const listsOf = ({ hook, webhook, digits }: Filled): Record<string, string> => ({
  hooks: '/api/hooks?limit=200',
  'hooks, by trigger': '/api/hooks?trigger=schedule',
  executions: `/api/hooks/${hook}/executions`,
  'executions, failed': `/api/hooks/${hook}/executions?status=error`,
  'executions, queued': `/api/hooks/${hook}/executions?status=queued`,
  'executions, successful': `/api/hooks/${hook}/executions?status=success`,
  'new executions': '/api/hooks/executions?after=execution_0',
  overview: '/api/overview',
  webhooks: '/api/webhooks',
  'webhook deliveries': `/api/webhooks/${webhook}/deliveries`,
  'webhook deliveries, failed': `/api/webhooks/${webhook}/deliveries?status=failed`,
  messages: '/api/admin/outbox',
  'messages, unknown': '/api/admin/outbox?status=unknown',
  notifications: '/api/notifications?limit=200',
  'notifications, unread': '/api/notifications?unread=true',
  agents: '/api/agents',
  'agents, running': '/api/agents?status=running',
  memories: '/api/memories?limit=200',
  'memories, with a frequent word': '/api/memories?q=word1',
  'memories, with one of three words': '/api/memories?q=number7%20word2%20nothing',
  ...taskViewsOf(digits),
});

/**
 * Measures each list over the wire, beside a million executions, deliveries, notifications and
 * events, 10,000 hooks, half a million messages, 5,000 memories and 10,000 tasks of one user.
 */
export const measureLists = async (): Promise<Record<string, Record<string, string>>> => {
  const home = await mkdtemp(join(tmpdir(), 'adjutant-lists-'));
  const first = await startDaemon({ home });
  const body = { username: 'owner', password: 'correct horse battery' };
  const { token, user } = await createClient({ url: first.url }).auth.register({ body });
  await first.end('SIGTERM');
  const filled = fillHome(home, user.id);
  const daemon = await startDaemon({ home });
  const headers = { authorization: `Bearer ${token}` };
  const measured: Record<string, Record<string, string>> = {};
  for (const [name, path] of Object.entries(listsOf(filled))) {
    const times: number[] = [];
    let status = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const since = performance.now();
      const reply = await fetch(`${daemon.url}${path}`, { headers });
      await reply.arrayBuffer();
      status = reply.status;
      times.push(performance.now() - since);
    }
    if (status !== 200) throw new Error(`${path} was answered with ${status}`);
    const [once = 0] = times;
    measured[name] = { 'ms, first': once.toFixed(1), 'ms, median': median(times).toFixed(1) };
  }
  await daemon.end('SIGKILL');
  await rm(home, { recursive: true });
  return measured;
};

/** Fills the database; one execution in a thousand has failed, and one message in a thousand. */
const fillHome = (home: string, userId: string): Filled => {
  const db = new Database(join(home, 'adjutant.db'));
  const at = new Date(Date.now() - 3600_000).toISOString();
  const digits = timeDigits(Date.parse(at));
  const hook = `hook_${digits}${'0'.repeat(16)}`;
  const webhook = `webhook_${digits}${'0'.repeat(16)}`;
  const bound = { userId, at, digits, hook, webhook };
  const numbers = (count: number): string =>
    `WITH RECURSIVE n (x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < ${count - 1})`;
  const id = (noun: string): string => `'${noun}_' || @digits || printf('%016d', x)`;
  const run = (sql: string): void => {
    db.prepare(sql).run(bound);
  };
  db.pragma('foreign_keys = OFF');
  db.pragma('synchronous = OFF');
  run(`${numbers(HOOKS)} INSERT INTO hooks (id, user_id, name, trigger, trigger_config, action,
      action_config, enabled, conditions, created_at, updated_at)
    SELECT ${id('hook')}, @userId, 'hook ' || x, 'webhook', '{}', 'notify',
      '{"notifyMessage":"x"}', 1, '[]', @at, @at FROM n`);
  run(`${numbers(MILLION)} INSERT INTO deliveries (id, path, method, headers, body, received_at)
    SELECT ${id('delivery')}, 'bench', 'POST', '{}', '{"n":' || x || '}', @at FROM n`);
  run(`${numbers(MILLION)} INSERT INTO executions (id, hook_id, user_id, delivery_id, trigger, action,
      status, created_at, finished_at)
    SELECT ${id('execution')}, @hook, @userId, ${id('delivery')}, 'webhook', 'notify',
      iif(x % 1000 = 0, 'error', 'success'), @at, @at FROM n`);
  run(`${numbers(MILLION)} INSERT INTO notifications (id, user_id, kind, title, body, created_at,
      read_at) SELECT ${id('notification')}, @userId, 'hook_notice', 'Title', 'Body', @at,
      iif(x % 1000 = 0, NULL, @at) FROM n`);
  run(`${numbers(MILLION)} INSERT INTO agent_events (agent_id, seq, type, data, at)
    SELECT 'agent_' || (x / 200), x % 200, 'agent.status', '{}', @at FROM n`);
  run(`${numbers(1)} INSERT INTO webhooks (id, user_id, name, url, events, secret_sealed, enabled,
      created_at, updated_at)
    SELECT @webhook, @userId, 'bench', 'https://bench.example', '["*"]', '', 1, @at, @at FROM n`);
  run(`${numbers(MESSAGES)} INSERT INTO sendings (id, user_id, webhook_id, cause_id, kind, content,
      status, created_at, finished_at)
    SELECT ${id('sending')}, @userId, @webhook, ${id('event')}, 'hook.executed', '{}',
      iif(x % 1000 = 0, 'failed', 'sent'), @at, @at FROM n`);
  run(`${numbers(MEMORIES)} ${MEMORIES_OF_USER}`);
  run(`${numbers(MEMORIES * WORDS)} ${WORDS_OF_MEMORIES}`);
  fillTasks(db, { userId, digits, at });
  db.close();
  return { hook, webhook, digits };
};

const MEMORIES_OF_USER = `INSERT INTO memories (id, user_id, text, about, created_by, confirmed,
    created_at, updated_at)
  SELECT 'memory_' || @digits || printf('%016d', x), @userId, 'Number ' || x, 'fact', 'person', 1,
    @at, @at FROM n`;
const WORDS_OF_MEMORIES = `INSERT INTO memory_words (user_id, word, memory_id)
  SELECT @userId, iif(x % ${WORDS} = 0, 'number' || (x / ${WORDS}), 'word' || (x % ${WORDS})),
    'memory_' || @digits || printf('%016d', x / ${WORDS}) FROM n`;
