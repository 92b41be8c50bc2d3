import Database from 'better-sqlite3';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { syncToDisk } from '../../kernel/durable.js';
import { appendAudit } from '../audit/chain.js';
import { auditKeyIn } from '../audit/key.js';
import type { ThreadOptions } from '../engine/protocol.js';
import { schemaOf } from './database.js';

/** A statement that stops one automatic action of a copied database. */
interface QuarantineStatement {
  /** The first schema that has the tables of the statement, and the first for which it is not. */
  since: number;
  until?: number;
  sql: string;
  /** The count to which the number of changed rows is reported, if any. */
  counts?: keyof QuarantineCounts;
}

/**
 * Returns the statement that makes a message of each waiting event for each of these webhooks. Its id
 * is that of the event, with the number of the webhook in the place of the last digits.
 */
const unsentEvents = (webhooks: string): string => `
  INSERT INTO sendings
    (id, user_id, webhook_id, cause_id, kind, content, status, error, created_at, finished_at)
  SELECT 'sending_' || substr(e.id, 7, 22)
      || printf('%04d', row_number() OVER (PARTITION BY e.id ORDER BY w.id)),
    e.user_id, w.id, e.id, e.type,
    json_object('type', e.type, 'timestamp', e.created_at, 'data', json(e.data)),
    'unknown', @why || ': it may have been sent elsewhere', e.created_at, @at
  FROM jobs AS j JOIN outgoing_events AS e ON e.id = j.ref ${webhooks}
  WHERE j.kind = 'event' ON CONFLICT DO NOTHING`;

/** The number of things in quarantine. */
export interface QuarantineCounts {
  agents: number;
  executions: number;
  schedules: number;
  /** The folders that were watched. */
  folders: number;
}

/**
 * The statements that put a database into quarantine when it continues as a copy, after a restore
 * or a rollback. The other copy may have done this work, or may still do it, and nothing may happen
 * twice. Nothing is lost: waiting work stays, in a state from which a person can continue it. The
 * statements run in this order, each on the schema of the copy, before any migration. A new part of
 * the daemon that acts by itself (a queue, a schedule, a sender) needs a line here.
 */
const HOLDS: QuarantineStatement[] = [
  {
    since: 40,
    sql: `INSERT INTO agent_events (agent_id, seq, type, data, at)
      SELECT id, (SELECT coalesce(max(seq), 0) + 1 FROM agent_events WHERE agent_id = agents.id),
        'agent.status', json_object('status', 'paused', 'reason', @why), @at
      FROM agents WHERE status IN ('queued', 'running', 'waiting_approval')`,
  },
  {
    since: 40,
    sql: `UPDATE agents SET status = 'paused'
      WHERE status IN ('queued', 'running', 'waiting_approval')`,
    counts: 'agents',
  },
  {
    // Executions whose agent is paused end with it.
    since: 40,
    sql: `UPDATE executions SET status = 'interrupted', finished_at = @at,
        error = @why || ': it may have run elsewhere. Replay it if it should run here'
      WHERE status IN ('queued', 'running') AND NOT EXISTS
        (SELECT 1 FROM agents AS a WHERE a.execution_id = executions.id AND a.status = 'paused')`,
    counts: 'executions',
  },
  {
    // The approval was for a call that may have been made; the agent asks again.
    since: 130,
    sql: `UPDATE approvals SET used_at = @at WHERE status = 'approved' AND used_at IS NULL`,
  },
  // What stands in the other copy may have been revoked there.
  { since: 380, sql: 'DELETE FROM approval_grants' },
  {
    since: 30,
    sql: `UPDATE hooks SET enabled = 0 WHERE trigger = 'schedule' AND enabled = 1`,
    counts: 'schedules',
  },
  {
    // Nothing is sent twice automatically. A dead letter can be sent again by a person.
    since: 180,
    sql: `UPDATE sendings SET status = 'unknown', finished_at = @at, next_at = NULL,
        error = @why || ': it may have been sent elsewhere'
      WHERE status IN ('queued', 'sending')`,
  },
  // Events that no message was made of yet: one for each webhook, in the same state.
  {
    since: 180,
    until: 360,
    sql: unsentEvents(`JOIN webhooks AS w ON w.user_id = e.user_id
      AND w.enabled = 1 AND (w.events LIKE '%"' || e.type || '"%' OR w.events LIKE '%"*"%')`),
  },
  {
    since: 360,
    sql: unsentEvents('JOIN webhooks AS w ON w.id IN (SELECT key FROM json_each(e.webhooks))'),
  },
  {
    // What a step of it does may have been done elsewhere.
    since: 370,
    sql: `UPDATE operations SET status = 'interrupted', finished_at = @at,
        error = @why || ': it may go on elsewhere. Begin it again if it should run here'
      WHERE status IN ('queued', 'running')`,
  },
  {
    since: 450,
    sql: `UPDATE reader_tasks SET status = 'failed', finished_at = @at,
        error = @why || ': it may be read elsewhere. Read the page again if it should be read here'
      WHERE status IN ('queued', 'running')`,
  },
  {
    since: 490,
    sql: `UPDATE research_jobs SET status = 'failed', finished_at = @at,
        error = @why || ': it may go on elsewhere. Ask again if it should be researched here'
      WHERE status NOT IN ('completed', 'failed', 'cancelled')`,
  },
  {
    since: 541,
    sql: `UPDATE recurring_runs SET status = 'error', finished_at = @at,
        error = @why || ': it may have run elsewhere. Run it again if it should run here'
      WHERE status IN ('queued', 'running')`,
  },
  {
    since: 541,
    sql: 'UPDATE recurring_tasks SET enabled = 0, next_run_at = NULL WHERE enabled = 1',
    counts: 'schedules',
  },
  { since: 510, sql: 'UPDATE knowledge_folders SET watch = 0 WHERE watch = 1', counts: 'folders' },
  // The other copy told these. Later ones are told by this copy too.
  { since: 530, sql: 'UPDATE tasks SET remind_at = NULL WHERE remind_at <= @at' },
  {
    since: 555,
    sql: `UPDATE pipeline_stages SET status = 'stopped', due = NULL, due_at = NULL, digest = NULL,
        finished_at = @at WHERE finished_at IS NULL`,
  },
  {
    since: 555,
    sql: `UPDATE pipeline_runs SET status = 'stopped', finished_at = @at, deadline_at = NULL,
        error = @why || ': it may go on elsewhere. Retry it if it should run here'
      WHERE finished_at IS NULL`,
  },
  { since: 200, sql: 'DELETE FROM notice_batches' },
  { since: 20, sql: 'DELETE FROM jobs' },
  {
    since: 340,
    sql: 'UPDATE executions SET run_at = NULL, boot = NULL WHERE run_at IS NOT NULL',
  },
  // Two copies cannot serve one address.
  { since: 230, sql: 'UPDATE tunnel SET is_on = 0, process = NULL' },
  // These rows describe files of another home.
  { since: 250, sql: 'DELETE FROM backups' },
  { since: 310, sql: `DELETE FROM audit_heads WHERE place = 'outside'` },
  {
    since: 10,
    sql: `INSERT INTO facts (name, value) VALUES ('held_at', @at)
      ON CONFLICT DO UPDATE SET value = excluded.value`,
  },
];

export interface QuarantineOptions {
  /** The time in ISO 8601. */
  at: string;
  /** The beginning of the sentences that the owners read: `Restored from a backup`. */
  why: string;
  /** Returns the id of a notification for a user. */
  mintId(): string;
  /** The row for the audit log, to which the counts are added. */
  entry: AuditRecord;
  keys: Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;
}

/**
 * Puts a database file into quarantine, so that it does nothing by itself. Durable when it returns.
 */
export const quarantineCopy = (file: string, holding: QuarantineOptions): QuarantineCounts => {
  const { at, why } = holding;
  const db = new Database(file);
  try {
    db.pragma('journal_mode = DELETE');
    db.pragma('foreign_keys = ON');
    const hold = db.transaction((): QuarantineCounts => {
      const held: QuarantineCounts = {
        agents: 0,
        executions: 0,
        schedules: 0,
        folders: 0,
      };
      const watched = watchedByOwner(db);
      for (const { since, until = Number.POSITIVE_INFINITY, sql, counts } of HOLDS) {
        if (schemaOf(db) < since || schemaOf(db) >= until) continue;
        const { changes } = db.prepare(sql).run(sql.includes('@') ? namedIn(sql, { at, why }) : {});
        if (counts) held[counts] += changes;
      }
      tellOwners(db, holding, watched);
      record(db, holding, held);
      return held;
    });
    return hold();
  } finally {
    db.close();
    syncToDisk(file);
  }
};

const namedIn = (sql: string, values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => sql.includes(`@${name}`)));

/** The number of an owner's things that wait for a decision. */
type OwnerCounts = { id: string } & Record<
  'agents' | 'executions' | 'hooks' | 'recurring' | 'messages' | 'operations',
  number
>;

/** Counts what waits of each owner; what the schema of the copy has not yet is 0. */
const countByOwner = (db: Database.Database, at: string): OwnerCounts[] => {
  const since = (schema: number, count: string): string =>
    schemaOf(db) < schema ? '0' : `(SELECT count(*) FROM ${count})`;
  const messages = since(
    180,
    `sendings AS s WHERE s.user_id = u.id AND s.status = 'unknown' AND s.finished_at = @at`,
  );
  const operations = since(
    370,
    `operations AS o WHERE o.user_id = u.id AND o.status = 'interrupted' AND o.finished_at = @at`,
  );
  const recurring = since(541, 'recurring_tasks AS r WHERE r.user_id = u.id AND r.enabled = 0');
  return db
    .prepare<{ at: string }, OwnerCounts>(
      `SELECT u.id,
         (SELECT count(*) FROM agents AS a WHERE a.user_id = u.id AND a.status = 'paused') AS agents,
         (SELECT count(*) FROM executions AS e WHERE e.user_id = u.id
           AND e.status = 'interrupted' AND e.finished_at = @at) AS executions,
         (SELECT count(*) FROM hooks AS h WHERE h.user_id = u.id
           AND h.trigger = 'schedule' AND h.enabled = 0) AS hooks,
         ${recurring} AS recurring, ${messages} AS messages, ${operations} AS operations
       FROM users AS u`,
    )
    .all({ at });
};

/** Counts the watched folders of each owner, which cannot be told from others afterwards. */
const watchedByOwner = (db: Database.Database): Map<string, number> => {
  if (schemaOf(db) < 510) return new Map();
  const rows = db
    .prepare<[], { id: string; folders: number }>(
      `SELECT user_id AS id, count(*) AS folders FROM knowledge_folders
       WHERE watch = 1 GROUP BY user_id`,
    )
    .all();
  return new Map(rows.map(({ id, folders }) => [id, folders]));
};

/** Notifies each owner once, with the number of their things that wait for a decision. */
const tellOwners = (
  db: Database.Database,
  { at, why, mintId }: QuarantineOptions,
  watched: Map<string, number>,
): void => {
  if (schemaOf(db) < 50) return;
  const tell = db.prepare(
    `INSERT INTO notifications (id, user_id, kind, title, body, link, created_at)
     VALUES (@id, @userId, 'restored', @title, @body, NULL, @at)`,
  );
  for (const { id: userId, ...counts } of countByOwner(db, at)) {
    const { agents, executions, hooks, recurring, messages, operations } = counts;
    const folders = watched.get(userId) ?? 0;
    if (folders === 0 && Object.values(counts).every((count) => count === 0)) continue;
    const body =
      `Paused agents: ${agents}. Interrupted runs: ${executions}. ` +
      `Interrupted operations: ${operations}. Hooks with a schedule that are off: ${hooks}. ` +
      `Recurring tasks that are off: ${recurring}. ` +
      `Watched folders that are off: ${folders}. ` +
      `Messages that may have been sent elsewhere: ${messages}. Nothing of it goes on by itself.`;
    tell.run({ id: mintId(), userId, title: why, body, at });
  }
};

const record = (
  db: Database.Database,
  { entry, keys }: QuarantineOptions,
  held: QuarantineCounts,
): void => {
  if (schemaOf(db) < 80) return;
  appendAudit(db, { auditKey: auditKeyIn(db, keys) })({
    ...entry,
    data: { ...entry.data, ...held },
  });
};
