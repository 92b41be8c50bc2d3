import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { platforms } from '../../src/channels/platforms/contract.js';
import { mint } from '../../src/kernel/ids.js';
import type { Owner } from '../harness/account.js';
import type { Target } from '../harness/target.js';

const BOT = '123456:a-token-of-no-bot';
export const SECRET = 'a secret of the chats';

/** Telegram, as far as the daemon knows, is this server. */
export const setTelegram = async (admin: Owner, { url }: Target): Promise<void> => {
  const body = { baseUrl: url, fields: { botToken: BOT } };
  await admin.call(platforms.update, { kind: 'telegram', body });
};

/** How Telegram says that a message arrived. */
export const arrived: Target['answer'] = (response, nth) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ok: true, result: { message_id: nth } }));
};

/** Links a chat to every user who has none, as if each had redeemed a code. No daemon runs. */
export const linkChats = (home: string): void => {
  const db = new Database(join(home, 'adjutant.db'));
  const at = new Date().toISOString();
  const insert = db.prepare(
    `INSERT INTO channels (id, user_id, kind, sender_id, sender_name, verified_at, created_at)
     VALUES (?, ?, 'telegram', ?, 'Ada', ?, ?)`,
  );
  const users = db.prepare<[], string>('SELECT id FROM users').pluck().all();
  for (const [n, id] of users.entries()) {
    insert.run(mint('channel', Date.now()), id, String(1000 + n), at, at);
  }
  db.close();
};

/** A signed delivery; resolves to its execution, null where it was not acknowledged. */
export const deliver = async (url: string, path: string, given: object): Promise<string | null> => {
  const body = JSON.stringify(given);
  const digest = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${digest}`,
  };
  const response = await fetch(`${url}/api/webhooks/${path}`, { method: 'POST', headers, body });
  const { executions } = JSON.parse(await response.text());
  return response.status === 202 ? executions[0] : null;
};

export interface MessagesLedger {
  /** How many there are, by kind of target and status. */
  counts: Record<string, number>;
  jobs: number;
  /** Executions without a message to the chat of their owner, or without one to the webhook. */
  untold: string[];
  /** Messages about messages: none may leave. */
  echoes: number;
}

/** The notification that an execution left is known by its text, which holds the number. */
const UNTOLD = `
  SELECT e.id FROM executions AS e JOIN deliveries AS d ON d.id = e.delivery_id
  WHERE NOT EXISTS (SELECT 1 FROM notifications AS n JOIN sendings AS s ON s.cause_id = n.id
      WHERE n.body = 'Number ' || json_extract(d.body, '$.n'))
    OR NOT EXISTS (SELECT 1 FROM outgoing_events AS o JOIN sendings AS s ON s.cause_id = o.id
      WHERE o.effect_id = e.id)`;

export const readMessages = (home: string): MessagesLedger => {
  const db = new Database(join(home, 'adjutant.db'), { readonly: true });
  try {
    db.exec('BEGIN');
    const rows = db
      .prepare<[], { what: string; count: number }>(
        `SELECT iif(channel_id IS NULL, 'webhook ', 'channel ') || status AS what,
           count(*) AS count FROM sendings GROUP BY what`,
      )
      .all();
    const count = (sql: string): number => Number(db.prepare(sql).pluck().get());
    return {
      counts: Object.fromEntries(rows.map(({ what, count }) => [what, count])),
      jobs: count(
        `SELECT (SELECT count(*) FROM jobs)
           + (SELECT count(*) FROM executions WHERE run_at IS NOT NULL)`,
      ),
      untold: db.prepare<[], string>(UNTOLD).pluck().all(),
      echoes: count(`SELECT count(*) FROM sendings WHERE kind LIKE 'delivery_%'`),
    };
  } finally {
    db.close();
  }
};
