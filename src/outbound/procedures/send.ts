import type Database from 'better-sqlite3';
import {
  type OutboundMessageRow,
  type StartedMessage,
  type Targets,
  type WebhookRow,
  webhookTable,
} from '../../store/tables/outbox.js';

export interface MessageStart extends Targets {
  ids: string[];
  now: string;
}

type DueMessage = OutboundMessageRow & {
  resent_after: number;
  target: string;
  is_owner_disabled: number;
};

/**
 * `sending` is stored before the first byte is sent: a message found in that status may have
 * arrived. A retry of a lost message records the lost attempt. null: the message is gone. A webhook
 * is read and transferred once for many messages.
 */
export const beginMessages = (db: Database.Database) => {
  const { find, findWebhook, mark, lose } = prepare(db);

  const begin = (
    found: DueMessage,
    webhook: WebhookRow | null,
    of: Omit<MessageStart, 'ids'>,
  ): StartedMessage => {
    const { repeatable, paced, now } = of;
    const { target, is_owner_disabled, resent_after, ...row } = found;
    const { id, status, attempts } = row;
    const message = { ...row, webhook };
    const unchanged = { message, target, tries: attempts + 1 - resent_after };
    if (status !== 'queued' && status !== 'sending') return { verdict: 'over', ...unchanged };
    const isLost = status === 'sending';
    if (isLost) lose.run(id, attempts, now);
    if (isLost && !repeatable.includes(target)) return { verdict: 'lost', ...unchanged };
    const isSuspended = is_owner_disabled === 1 || webhook?.enabled === 0;
    if (isSuspended) return { verdict: 'suspended', ...unchanged };
    const isPaced = webhook === null || webhook.rate_per_minute !== null;
    if (isPaced && paced.includes(target)) return { verdict: 'waits', ...unchanged };
    mark.run(id);
    const marked = { status: 'sending' as const, attempts: attempts + 1, next_at: null };
    return { verdict: 'begun', ...unchanged, message: { ...message, ...marked } };
  };

  return ({ ids, ...of }: MessageStart): (StartedMessage | null)[] => {
    const webhooks = new Map<string, WebhookRow>();
    const webhookOf = ({ webhook_id: id }: DueMessage): WebhookRow | null => {
      if (id === null) return null;
      const webhook = webhooks.get(id) ?? (findWebhook.get(id) as WebhookRow);
      webhooks.set(id, webhook);
      return webhook;
    };
    return ids.map((id) => {
      const found = find.get(id) as DueMessage | undefined;
      return found ? begin(found, webhookOf(found), of) : null;
    });
  };
};

const prepare = (db: Database.Database) => ({
  find: db.prepare(
    `SELECT s.id, s.user_id, s.channel_id, s.webhook_id, s.hook_id, s.object, s.cause_id, s.kind, s.content, s.status,
       s.attempts, s.next_at, s.receipt, s.error, s.hops, s.created_at, s.finished_at,
       s.resent_after, iif(s.hook_id IS NULL, coalesce(c.kind, 'endpoint'), 'reply') AS target,
       u.disabled_at IS NOT NULL AS is_owner_disabled
     FROM sendings AS s JOIN users AS u ON u.id = s.user_id
     LEFT JOIN channels AS c ON c.id = s.channel_id
     WHERE s.id = ?`,
  ),
  findWebhook: db.prepare(`SELECT ${webhookTable.columns} FROM webhooks WHERE id = ?`),
  mark: db.prepare(
    `UPDATE sendings SET status = 'sending', attempts = attempts + 1, next_at = NULL WHERE id = ?`,
  ),
  lose: db.prepare(
    `INSERT INTO sending_attempts (sending_id, number, at, duration_ms, verdict, error)
     VALUES (?, ?, ?, 0, 'unknown', 'the daemon ended before the answer was recorded')
     ON CONFLICT DO NOTHING`,
  ),
});
