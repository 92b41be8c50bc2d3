import Database from 'better-sqlite3';
import type { AuditRecord } from '../../kernel/contract/audit.js';
import { syncToDisk } from '../../kernel/durable.js';
import { appendAudit } from '../audit/chain.js';
import { auditKeyIn } from '../audit/key.js';
import type { ThreadOptions } from '../engine/protocol.js';
import { readSchemaVersion } from './database.js';
import { QUARANTINE_STATEMENTS, type QuarantineCounts } from './quarantinestatements.js';

export interface QuarantineOptions {
  at: string;
  /** Start of the messages to owners: `Restored from a backup`. */
  why: string;
  mintId(): string;
  entry: AuditRecord;
  keys: Pick<ThreadOptions, 'auditKey' | 'comingAuditKey'>;
}

/** The copy does nothing by itself afterwards. Durable on return. */
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
      for (const {
        since,
        until = Number.POSITIVE_INFINITY,
        sql,
        counts,
      } of QUARANTINE_STATEMENTS) {
        if (readSchemaVersion(db) < since || readSchemaVersion(db) >= until) continue;
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

type OwnerCounts = { id: string } & Record<
  'agents' | 'executions' | 'hooks' | 'recurring' | 'messages' | 'operations',
  number
>;

const countByOwner = (db: Database.Database, at: string): OwnerCounts[] => {
  const since = (schema: number, count: string): string =>
    readSchemaVersion(db) < schema ? '0' : `(SELECT count(*) FROM ${count})`;
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

const watchedByOwner = (db: Database.Database): Map<string, number> => {
  if (readSchemaVersion(db) < 510) return new Map();
  const rows = db
    .prepare<[], { id: string; folders: number }>(
      `SELECT user_id AS id, count(*) AS folders FROM knowledge_folders
       WHERE watch = 1 GROUP BY user_id`,
    )
    .all();
  return new Map(rows.map(({ id, folders }) => [id, folders]));
};

const tellOwners = (
  db: Database.Database,
  { at, why, mintId }: QuarantineOptions,
  watched: Map<string, number>,
): void => {
  if (readSchemaVersion(db) < 50) return;
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
      `Interrupted operations: ${operations}. Disabled scheduled hooks: ${hooks}. ` +
      `Disabled recurring tasks: ${recurring}. ` +
      `Disabled watched folders: ${folders}. ` +
      `Messages that may have been sent elsewhere: ${messages}. None of these resume automatically.`;
    tell.run({ id: mintId(), userId, title: why, body, at });
  }
};

const record = (
  db: Database.Database,
  { entry, keys }: QuarantineOptions,
  held: QuarantineCounts,
): void => {
  if (readSchemaVersion(db) < 80) return;
  appendAudit(db, { auditKey: auditKeyIn(db, keys) })({
    ...entry,
    data: { ...entry.data, ...held },
  });
};
