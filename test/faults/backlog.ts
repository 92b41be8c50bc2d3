import { openApp } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { iso, systemClock } from '../../src/kernel/clock.js';
import { mint } from '../../src/kernel/ids.js';
import { createLog } from '../../src/kernel/log.js';
import { createLogRing } from '../../src/kernel/ring.js';
import type { Statement } from '../../src/store/engine/protocol.js';
import { inside } from '../harness/inside.js';

/**
 * The daemon, for which with each SIGUSR2 so many messages (its first argument) wait at one instant,
 * for each of its webhooks as many, by turns. Their time is from before they are written down.
 */
const count = Number(process.argv[2]);
const recent = createLogRing(systemClock.now());
const app = await openApp({
  config: readConfig({}),
  log: createLog('error', { ring: recent }),
  recent,
  onLost: (error) => {
    throw error;
  },
});

const tail = (noun: string): string => mint(noun, Date.now()).slice(0, -6);

const waiting = (webhooks: number, before: number): Statement[] => {
  const at = iso(systemClock.now());
  const numbered = `
    WITH RECURSIVE numbers (n) AS
      (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1}),
    targets AS (SELECT id, user_id, row_number() OVER (ORDER BY id) - 1 AS at FROM webhooks),
    messages AS (
      SELECT printf('${tail('sending')}%06d', n) AS id, printf('${tail('event')}%06d', n) AS cause,
        user_id, targets.id AS target, n + ${before} AS n
      FROM numbers JOIN targets ON targets.at = n % ${webhooks})`;
  const messages = `${numbered}
    INSERT INTO sendings (id, user_id, webhook_id, cause_id, kind, content, status, created_at)
    SELECT id, user_id, target, cause, 'task.completed', json_object('type', 'task.completed',
      'timestamp', '${at}', 'data', json_object('n', n)), 'queued', '${at}'
    FROM messages ORDER BY n`;
  const jobs = `
    INSERT INTO jobs (kind, ref, lane, run_at)
    SELECT 'sending', id, webhook_id, created_at FROM sendings WHERE created_at = '${at}' ORDER BY id`;
  return [
    { sql: messages, parameters: [], expect: count },
    { sql: jobs, parameters: [], expect: count },
  ];
};

let before = 0;
process.on('SIGUSR2', async () => {
  const webhooks = await app.store.db.selectFrom('webhooks').select('id').execute();
  await app.store.transact(waiting(webhooks.length, before));
  before += count;
  for (const { id } of webhooks) inside(app).outgoing.added(id, count / webhooks.length);
});
console.log(`  listening ${app.url}`);
