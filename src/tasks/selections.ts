import { type Kysely, sql } from 'kysely';
import { selectRows } from '../store/rows.js';
import { type TaskRow, taskTable } from '../store/tables/tasks.js';
import type { Tables } from '../store/tables.js';
import { visibleTo } from '../store/visible.js';

/** A task with the JSON list of the ids of those that must be done first. */
export type ListedTask = TaskRow & { blocked_by: string };

/** True for rows with something left to do. The partial indexes have exactly this text. */
export const isUnfinishedRow = sql<boolean>`status IN ('open', 'in_progress')`;

const listOf = (ids: string[]) => sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`;

/**
 * Builds the selects of the tasks of a user that decide what may be done with others. Each is read,
 * and asserted to find nothing in the transaction that relies on it.
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

    /** The tasks directly below one. */
    parts: (id: string) => ids().where('parent_id', '=', id),

    /** The tasks at any depth below one, and that one. */
    tree: (id: string) => ids().where('id', 'in', below(userId, id)),

    /** The unfinished ones below a task. */
    openBelow: (id: string) =>
      ids().where(isUnfinishedRow).where('id', 'in', below(userId, id)).where('id', '<>', id),

    /** The unfinished ones that block one of these, but for these themselves. */
    openBlockers: (of: string[]) =>
      ids()
        .where(isUnfinishedRow)
        .where('id', 'in', blockersOf(userId, of))
        .where(sql<boolean>`id NOT IN ${listOf(of)}`),

    /** The unfinished ones among these ids. */
    openAmong: (of: string[]) =>
      ids()
        .where(isUnfinishedRow)
        .where(sql<boolean>`id IN ${listOf(of)}`),

    /**
     * The task itself, if it waits for itself: a task waits for its blockers and its parts, and they
     * for theirs.
     */
    loop: (id: string) => ids().where('id', '=', id).where('id', 'in', waitedFor(userId, id)),
  };
};

/** The ids of a task and of all that are below it. */
export const below = (userId: string, id: string) =>
  sql<string>`(WITH RECURSIVE below (id) AS (
    SELECT ${id} UNION SELECT part.id FROM below
      JOIN tasks AS part ON part.parent_id = below.id AND part.user_id = ${userId}
  ) SELECT id FROM below)`;

const blockersOf = (userId: string, of: string[]) =>
  sql<string>`(SELECT blocker_id FROM task_blockers
    WHERE user_id = ${userId} AND task_id IN ${listOf(of)})`;

const waitedFor = (userId: string, id: string) =>
  sql<string>`(WITH RECURSIVE waited (id) AS (
    SELECT blocker_id FROM task_blockers WHERE user_id = ${userId} AND task_id = ${id}
    UNION SELECT part.id FROM tasks AS part WHERE part.user_id = ${userId} AND part.parent_id = ${id}
    UNION SELECT next.blocker_id FROM waited
      JOIN task_blockers AS next ON next.task_id = waited.id AND next.user_id = ${userId}
    UNION SELECT part.id FROM waited
      JOIN tasks AS part ON part.parent_id = waited.id AND part.user_id = ${userId}
  ) SELECT id FROM waited)`;
