import type Database from 'better-sqlite3';
import type { SendingRow } from '../tables/outbox.js';

export interface Beginning {
  id: string;
  /** Kinds of targets that know a repeat by its id. */
  repeatable: string[];
  /** Kinds whose turn is to be waited for first. */
  paced: string[];
  /** ISO 8601. */
  now: string;
}

export interface Begun {
  /**
   * `begun`: it is `sending` now, durably. `lost`: it was already, and may have arrived; nothing was
   * changed. `over`: it has ended. `suspended`: its owner or its target is disabled. `waits`: it is
   * not its turn yet; nothing was changed.
   */
  verdict: 'begun' | 'waits' | 'lost' | 'over' | 'suspended';
  /** As it is after that. */
  sending: SendingRow;
  /** The kind of its channel; `endpoint` for an outgoing webhook. */
  target: string;
  /** How often it was tried since a person sent it again, this time included. */
  tries: number;
}

type Found = SendingRow & { resent_after: number; target: string; is_suspended: number };

/**
 * The moment before the first byte goes out: who finds `sending` later knows that it may have
 * arrived. A repeat of one that was lost keeps the lost attempt on record. null: it is gone, with
 * its target.
 */
export const beginSending = (db: Database.Database) => {
  const find = db.prepare(
    `SELECT s.id, s.user_id, s.channel_id, s.webhook_id, s.cause_id, s.kind, s.content, s.status,
       s.attempts, s.next_at, s.receipt, s.error, s.created_at, s.finished_at,
       s.resent_after, coalesce(c.kind, 'endpoint') AS target,
       u.disabled_at IS NOT NULL OR coalesce(w.enabled, 1) = 0 AS is_suspended
     FROM sendings AS s JOIN users AS u ON u.id = s.user_id
     LEFT JOIN channels AS c ON c.id = s.channel_id
     LEFT JOIN webhooks AS w ON w.id = s.webhook_id
     WHERE s.id = ?`,
  );
  const mark = db.prepare(
    `UPDATE sendings SET status = 'sending', attempts = attempts + 1, next_at = NULL WHERE id = ?`,
  );
  const lose = db.prepare(
    `INSERT INTO sending_attempts (sending_id, number, at, duration_ms, verdict, error)
     VALUES (?, ?, ?, 0, 'unknown', 'the daemon ended before the answer was recorded')
     ON CONFLICT DO NOTHING`,
  );
  return ({ id, repeatable, paced, now }: Beginning): Begun | null => {
    const found = find.get(id) as Found | undefined;
    if (!found) return null;
    const { target, is_suspended, resent_after, ...sending } = found;
    const { status, attempts } = sending;
    const unchanged = { sending, target, tries: attempts + 1 - resent_after };
    if (status !== 'queued' && status !== 'sending') return { verdict: 'over', ...unchanged };
    const isLost = status === 'sending';
    if (isLost) lose.run(id, attempts, now);
    if (isLost && !repeatable.includes(target)) return { verdict: 'lost', ...unchanged };
    if (is_suspended === 1) return { verdict: 'suspended', ...unchanged };
    if (paced.includes(target)) return { verdict: 'waits', ...unchanged };
    mark.run(id);
    const marked = { status: 'sending' as const, attempts: attempts + 1, next_at: null };
    return { verdict: 'begun', ...unchanged, sending: { ...sending, ...marked } };
  };
};
