import type { Kysely } from 'kysely';
import type { Statement, TransactionStep } from '../store/engine/protocol.js';
import { type ComputedValue, insertRow } from '../store/rows.js';
import { assertRows, statement } from '../store/store.js';
import { type TaskRow, taskTable } from '../store/tables/tasks.js';
import type { Tables } from '../store/tables.js';
import { visibleTo } from '../store/visible.js';
import { below } from './selections.js';

/** Ours: so many tasks of a user may be unfinished, and so many of these untrusted. */
export const MAX_UNFINISHED = 10_000;
export const MAX_UNTRUSTED = 1000;

/** The agent or run that makes or changes a task; a person by hand if neither is set. */
export interface TaskAuthor {
  agentId: string | null;
  /** The run of a hook, whose payload comes from outside. */
  executionId: string | null;
}

export const BY_HAND: TaskAuthor = { agentId: null, executionId: null };

/** A task and its owner. */
export type OwnTask = Pick<TaskRow, 'id' | 'user_id'>;

/**
 * Computes if an author is untrusted in the moment of the write: an agent that is, or is gone, and
 * every run of a hook.
 */
const untrustedAuthor = (userId: string, { agentId, executionId }: TaskAuthor): ComputedValue => {
  if (executionId !== null) return { sql: '1', parameters: [] };
  if (agentId === null) return { sql: '0', parameters: [] };
  return {
    sql: 'coalesce((SELECT untrusted FROM agents WHERE id = ? AND user_id = ?), 1)',
    parameters: [agentId, userId],
  };
};

/** Builds the assertion that the user has room for one more task of that author. */
export const onlyWithRoom = (userId: string, author: TaskAuthor): Statement => {
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

/** Builds the statement that inserts a task, whose trust is judged by its author. */
export const insertTask = (row: Omit<TaskRow, 'untrusted'>, author: TaskAuthor): Statement =>
  insertRow(taskTable, row, { untrusted: untrustedAuthor(row.user_id, author) });

/** Builds the statements that replace the tags of a task. */
export const replaceTags = ({ id, user_id }: OwnTask, tags: string): TransactionStep[] => [
  { sql: 'DELETE FROM task_tags WHERE task_id = ?', parameters: [id] },
  {
    sql: `INSERT INTO task_tags (user_id, tag, task_id) SELECT ?, value, ? FROM json_each(?)`,
    parameters: [user_id, id, tags],
  },
];

/** Builds the statements that replace the words by which a task is found. */
export const replaceWords = ({ id, user_id }: OwnTask, words: string[]): TransactionStep[] => [
  { sql: 'DELETE FROM task_words WHERE task_id = ?', parameters: [id] },
  {
    sql: `INSERT OR IGNORE INTO task_words (user_id, word, task_id)
      SELECT ?, value, ? FROM json_each(?)`,
    parameters: [user_id, id, JSON.stringify(words)],
  },
];

/** Builds the statement that has tasks of the user block another one. All must be the user's. */
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

/** Builds the assertion that the user has such a task. */
export const onlyKnown = (db: Kysely<Tables>, userId: string, id: string): Statement =>
  assertRows(db.selectFrom('tasks').select('id').where(visibleTo(userId)).where('id', '=', id), 1);

/**
 * Builds the statement that completes tasks, all of which must be unfinished. An untrusted author
 * makes them untrusted.
 */
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

/** Builds the statement that deletes a task with all that is below it. */
export const deleteTree = (db: Kysely<Tables>, { id, user_id }: OwnTask): Statement =>
  statement(db.deleteFrom('tasks').where(visibleTo(user_id)).where('id', 'in', below(user_id, id)));

/**
 * Builds the statement that changes a task, if it still is as it was read. `author` is who edits it:
 * a person makes it trusted, an untrusted agent untrusted; null leaves it as it is.
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
  const isByHand = author.agentId === null && author.executionId === null;
  if (isByHand) return { sql: 'untrusted = 0', parameters: [] };
  const computed = untrustedAuthor(userId, author);
  return { ...computed, sql: `untrusted = max(untrusted, ${computed.sql})` };
};
