import { type Kysely, sql } from 'kysely';
import { selectRows } from '../store/rows.js';
import { type TaskRow, taskTable } from '../store/tables/tasks.js';
import type { Tables } from '../store/tables.js';
import { visibleTo } from '../store/visible.js';

export type ListedTask = TaskRow & { blocked_by: string };

/** The partial indexes contain exactly this expression. */
export const isUnfinishedRow = sql<boolean>`status IN ('open', 'in_progress')`;

const selectIds = (ids: string[]) => sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`;

/**
 * Selects tasks that decide what is allowed for others. Each select is read first, and then
 * asserted to be empty in the transaction that relies on it.
 */
export const taskSelections = (db: Kysely<Tables>, userId: string) => {
  const ids = () =>
    db.selectFrom('tasks').select(['id', 'title', 'untrusted']).where(visibleTo(userId));

  return {
    own: () =>
      selectRows(db, taskTable, {}, visibleTo(userId)).select(
        sql<string>`(SELECT json_group_array(blocker_id) FROM task_blockers
          WHERE task_id = tasks.id)`.as('blocked_by'),
      ),

    parts: (id: string) => ids().where('parent_id', '=', id),

    tree: (id: string) => ids().where('id', 'in', subtaskIds(userId, id)),

    openBelow: (id: string) =>
      ids().where(isUnfinishedRow).where('id', 'in', subtaskIds(userId, id)).where('id', '<>', id),

    openBlockers: (of: string[]) =>
      ids()
        .where(isUnfinishedRow)
        .where('id', 'in', selectBlockers(userId, of))
        .where(sql<boolean>`id NOT IN ${selectIds(of)}`),

    openAmong: (of: string[]) =>
      ids()
        .where(isUnfinishedRow)
        .where(sql<boolean>`id IN ${selectIds(of)}`),

    /** Selects the task itself if it waits for itself through its blockers and subtasks. */
    loop: (id: string) => ids().where('id', '=', id).where('id', 'in', waitedFor(userId, id)),
  };
};

export const subtaskIds = (userId: string, id: string) =>
  sql<string>`(WITH RECURSIVE below (id) AS (
    SELECT ${id} UNION SELECT part.id FROM below
      JOIN tasks AS part ON part.parent_id = below.id AND part.user_id = ${userId}
  ) SELECT id FROM below)`;

const selectBlockers = (userId: string, of: string[]) =>
  sql<string>`(SELECT blocker_id FROM task_blockers
    WHERE user_id = ${userId} AND task_id IN ${selectIds(of)})`;

const waitedFor = (userId: string, id: string) =>
  sql<string>`(WITH RECURSIVE waited (id) AS (
    SELECT blocker_id FROM task_blockers WHERE user_id = ${userId} AND task_id = ${id}
    UNION SELECT part.id FROM tasks AS part WHERE part.user_id = ${userId} AND part.parent_id = ${id}
    UNION SELECT next.blocker_id FROM waited
      JOIN task_blockers AS next ON next.task_id = waited.id AND next.user_id = ${userId}
    UNION SELECT part.id FROM waited
      JOIN tasks AS part ON part.parent_id = waited.id AND part.user_id = ${userId}
  ) SELECT id FROM waited)`;
