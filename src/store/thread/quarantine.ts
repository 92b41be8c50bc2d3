import Database from 'better-sqlite3';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { syncToDisk } from '../../kernel/durable.js';
import { appendAudit } from '../audit/chain.js';
import { auditKeyIn } from '../audit/key.js';
import type { ThreadOptions } from '../engine/protocol.js';
import { schemaOf } from './database.js';

/** One thing that a copy of a database must not do by itself. */
interface Hold {
  /** The schema that has what it is about. */
  since: number;
  sql: string;
  /** What the number of changed rows counts, where somebody wants to know. */
  counts?: keyof QuarantineCounts;
}

/** How much was held back. */
export interface QuarantineCounts {
  agents: number;
  executions: number;
  schedules: number;
}

/**
 * Everything that a database is made to leave alone when it goes on as a copy, after a restore or a
 * rollback: the other copy may have done it, or may do it yet, and nothing happens twice. Nothing is
 * lost by it: what waited stays, in a state from which a person lets it go on. In this order; each
 * on the schema that the copy has, before any migration. What is added to the daemon and acts by
 * itself (a queue, a schedule, a sender) has its line here.
 */
const HOLDS: Hold[] = [
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
    // Those whose agent is paused end with it.
    since: 40,
    sql: `UPDATE executions SET status = 'interrupted', finished_at = @at,
        error = @why || ': it may have run elsewhere. Replay it if it should run here'
      WHERE status IN ('queued', 'running') AND NOT EXISTS
        (SELECT 1 FROM agents AS a WHERE a.execution_id = executions.id AND a.status = 'paused')`,
    counts: 'executions',
  },
  {
    // A yes was for a call that may have been made; the agent asks again.
    since: 130,
    sql: `UPDATE approvals SET used_at = @at WHERE status = 'approved' AND used_at IS NULL`,
  },
  {
    since: 30,
    sql: `UPDATE hooks SET enabled = 0 WHERE trigger = 'schedule' AND enabled = 1`,
    counts: 'schedules',
  },
  {
    // Nothing is sent twice by itself; a dead letter can be sent again.
    since: 180,
    sql: `UPDATE sendings SET status = 'unknown', finished_at = @at, next_at = NULL,
        error = @why || ': it may have been sent elsewhere'
      WHERE status IN ('queued', 'sending')`,
  },
  { since: 200, sql: 'DELETE FROM notice_batches' },
  { since: 20, sql: 'DELETE FROM jobs' },
  // Two copies cannot answer at one address.
  { since: 230, sql: 'UPDATE tunnel SET is_on = 0, process = NULL' },
  // They tell of files of another home.
  { since: 250, sql: 'DELETE FROM backups' },
  { since: 310, sql: `DELETE FROM audit_heads WHERE place = 'outside'` },
  {
    since: 10,
    sql: `INSERT INTO facts (name, value) VALUES ('held_at', @at)
      ON CONFLICT DO UPDATE SET value = excluded.value`,
  },
];

export interface Holding {
  /** ISO 8601. */
  at: string;
  /** Begins the sentences that the owners read: `Restored from a backup`. */
  why: string;
  /** Id of the notification for a user. */
  mintId(): string;
  /** Goes into the audit log with what was held. */
  entry: AuditRecord;
  keys: Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;
}

/** Holds back what a database file would do by itself; durable when it returns. */
export const holdBack = (file: string, holding: Holding): QuarantineCounts => {
  const { at, why } = holding;
  const db = new Database(file);
  try {
    db.pragma('journal_mode = DELETE');
    db.pragma('foreign_keys = ON');
    const hold = db.transaction((): QuarantineCounts => {
      const held: QuarantineCounts = { agents: 0, executions: 0, schedules: 0 };
      for (const { since, sql, counts } of HOLDS) {
        if (schemaOf(db) < since) continue;
        const { changes } = db.prepare(sql).run(sql.includes('@') ? namedIn(sql, { at, why }) : {});
        if (counts) held[counts] = changes;
      }
      tellOwners(db, holding);
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

/** Each owner once, with how many of theirs wait for a word. */
const tellOwners = (db: Database.Database, { at, why, mintId }: Holding): void => {
  if (schemaOf(db) < 50) return;
  const owners = db
    .prepare<{ at: string }, { id: string; agents: number; executions: number; hooks: number }>(
      `SELECT u.id,
         (SELECT count(*) FROM agents AS a WHERE a.user_id = u.id AND a.status = 'paused') AS agents,
         (SELECT count(*) FROM executions AS e WHERE e.user_id = u.id
           AND e.status = 'interrupted' AND e.finished_at = @at) AS executions,
         (SELECT count(*) FROM hooks AS h WHERE h.user_id = u.id
           AND h.trigger = 'schedule' AND h.enabled = 0) AS hooks
       FROM users AS u`,
    )
    .all({ at });
  const tell = db.prepare(
    `INSERT INTO notifications (id, user_id, kind, title, body, link, created_at)
     VALUES (@id, @userId, 'restored', @title, @body, NULL, @at)`,
  );
  for (const { id: userId, agents, executions, hooks } of owners) {
    if (agents + executions + hooks === 0) continue;
    const body =
      `Paused agents: ${agents}. Interrupted runs: ${executions}. ` +
      `Hooks with a schedule that are off: ${hooks}. Nothing of it goes on by itself.`;
    tell.run({ id: mintId(), userId, title: why, body, at });
  }
};

const record = (db: Database.Database, { entry, keys }: Holding, held: QuarantineCounts): void => {
  if (schemaOf(db) < 80) return;
  appendAudit(db, { auditKey: auditKeyIn(db, keys) })({
    ...entry,
    data: { ...entry.data, ...held },
  });
};
