import type { Kysely } from 'kysely';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { type ComputedValue, insertRow } from '../store/rows.js';
import { assertRows, statement } from '../store/store.js';
import { type TaskRow, taskTable } from '../store/tables/tasks.js';
import type { Tables } from '../store/tables.js';
import { visibleTo } from '../store/visible.js';
import { subtaskIds } from './selections.js';

/** Limits per user. */
export const MAX_UNFINISHED = 10_000;
export const MAX_UNTRUSTED = 1000;

export interface TaskAuthor {
  agentId: string | null;
  /** A run of a hook, whose payload is untrusted. */
  executionId: string | null;
  /** A pipeline run, trusted or not. */
  runId?: string;
}

export const MANUAL_AUTHOR: TaskAuthor = { agentId: null, executionId: null };

export type OwnTask = Pick<TaskRow, 'id' | 'user_id'>;

/**
 * Computes at the time of the write whether the author is untrusted: an untrusted or deleted agent,
 * or a run of a hook.
 */
const untrustedAuthor = (userId: string, { agentId, executionId }: TaskAuthor): ComputedValue => {
  if (executionId !== null) return { sql: '1', parameters: [] };
  if (agentId === null) return { sql: '0', parameters: [] };
  return {
    sql: 'coalesce((SELECT untrusted FROM agents WHERE id = ? AND user_id = ?), 1)',
    parameters: [agentId, userId],
  };
};

export const assertTaskLimit = (userId: string, author: TaskAuthor): Statement => {
  const untrusted = untrustedAuthor(userId, author);
  return {
    sql: `SELECT 1 WHERE ${UNFINISHED_COUNT} < ?
      AND (${untrusted.sql} = 0 OR ${UNTRUSTED_COUNT} < ?)`,
    parameters: [userId, MAX_UNFINISHED, ...untrusted.parameters, userId, MAX_UNTRUSTED],
    expect: 1,
  };
};

const UNFINISHED_COUNT = `(SELECT count(*) FROM tasks
  WHERE user_id = ? AND status IN ('open', 'in_progress'))`;
const UNTRUSTED_COUNT = `(SELECT count(*) FROM tasks
  WHERE user_id = ? AND untrusted = 1 AND status IN ('open', 'in_progress'))`;

export const insertTask = (row: Omit<TaskRow, 'untrusted'>, author: TaskAuthor): Statement =>
  insertRow(taskTable, row, { untrusted: untrustedAuthor(row.user_id, author) });

export const replaceTags = ({ id, user_id }: OwnTask, tags: string): TransactionStep[] => [
  { sql: 'DELETE FROM task_tags WHERE task_id = ?', parameters: [id] },
  {
    sql: `INSERT INTO task_tags (user_id, tag, task_id) SELECT ?, value, ? FROM json_each(?)`,
    parameters: [user_id, id, tags],
  },
];

export const replaceWords = ({ id, user_id }: OwnTask, words: string[]): TransactionStep[] => [
  { sql: 'DELETE FROM task_words WHERE task_id = ?', parameters: [id] },
  {
    sql: `INSERT OR IGNORE INTO task_words (user_id, word, task_id)
      SELECT ?, value, ? FROM json_each(?)`,
    parameters: [user_id, id, JSON.stringify(words)],
  },
];

/** Fails unless all blockers are tasks of the user. */
export const addBlockers = ({ id, user_id }: OwnTask, blockedBy: string[]): Statement => ({
  sql: `INSERT INTO task_blockers (user_id, task_id, blocker_id)
    SELECT t.user_id, ?, t.id FROM json_each(?) AS named
    JOIN tasks AS t ON t.id = named.value WHERE t.user_id = ?`,
  parameters: [id, JSON.stringify(blockedBy), user_id],
  expect: blockedBy.length,
});

export const dropBlockers = ({ id, user_id }: OwnTask): Statement => ({
  sql: 'DELETE FROM task_blockers WHERE user_id = ? AND task_id = ?',
  parameters: [user_id, id],
});

export const assertTaskExists = (db: Kysely<Tables>, userId: string, id: string): Statement =>
  assertRows(db.selectFrom('tasks').select('id').where(visibleTo(userId)).where('id', '=', id), 1);

/** Fails unless all tasks are unfinished. An untrusted author makes them untrusted. */
export const completeTasks = (
  userId: string,
  { ids, at, author }: { ids: string[]; at: string; author: TaskAuthor },
): Statement => {
  const untrusted = untrustedAuthor(userId, author);
  return {
    sql: `UPDATE tasks SET status = 'done', completed_at = ?, updated_at = ?, remind_at = NULL,
        untrusted = max(untrusted, ${untrusted.sql})
      WHERE user_id = ? AND id IN (SELECT value FROM json_each(?))
        AND status IN ('open', 'in_progress')`,
    parameters: [at, at, ...untrusted.parameters, userId, JSON.stringify(ids)],
    expect: ids.length,
  };
};

export const deleteTree = (db: Kysely<Tables>, { id, user_id }: OwnTask): Statement =>
  statement(
    db.deleteFrom('tasks').where(visibleTo(user_id)).where('id', 'in', subtaskIds(user_id, id)),
  );

/**
 * Fails if the task has changed since it was read. A person makes the task trusted, an untrusted
 * agent makes it untrusted, and `null` leaves it unchanged.
 */
export const changeTask = (
  { id, user_id, updated_at, status }: TaskRow,
  change: Partial<TaskRow>,
  author: TaskAuthor | null,
): Statement => {
  const untrusted = trustAfter(user_id, author);
  const set = [...Object.keys(change).map((column) => `"${column}" = ?`), untrusted.sql];
  return {
    sql: `UPDATE tasks SET ${set.join(', ')}
      WHERE user_id = ? AND id = ? AND updated_at = ? AND status = ?`,
    parameters: [
      ...Object.values(change),
      ...untrusted.parameters,
      ...[user_id, id, updated_at, status],
    ],
    expect: 1,
  };
};

const trustAfter = (userId: string, author: TaskAuthor | null): ComputedValue => {
  if (author === null) return { sql: 'untrusted = untrusted', parameters: [] };
  const isByHand = [author.agentId, author.executionId, author.runId ?? null].every(
    (id) => id === null,
  );
  if (isByHand) return { sql: 'untrusted = 0', parameters: [] };
  const computed = untrustedAuthor(userId, author);
  return { ...computed, sql: `untrusted = max(untrusted, ${computed.sql})` };
};
