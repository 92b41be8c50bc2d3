import { sql } from 'kysely';
import { cutPage, DEFAULT_LIMIT } from '../kernel/contract/page.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import { type Store, statement } from '../store/store.js';
import type { TaskRow } from '../store/tables/tasks.js';
import { visibleTo } from '../store/visible.js';
import { type DueRange, endOfDay, isToDo } from './dues.js';
import { isUnfinishedRow, type ListedTask, taskSelections } from './selections.js';

export interface TaskListFilter extends PageInput {
  /** A task must contain at least one of the words. `null` means no filter. */
  words: string[] | null;
  status?: TaskRow['status'] | undefined;
  tag?: string | undefined;
  parentId?: string | undefined;
  range: DueRange | null;
  isNext: boolean;
}

/** The indexes contain exactly this expression. */
const BY_DUE = sql<string>`(coalesce(ends_at, '~') || ' ' || (3 - priority) || ' ' || id)`;
const FOLLOWS_ZONE = sql<boolean>`follows_zone = 1`;

export const tasksStore = ({ db, transact }: Store) => {
  const filtered = (userId: string, { words, status, tag, parentId }: TaskListFilter) => {
    let found = taskSelections(db, userId).own();
    if (status !== undefined) found = found.where('status', '=', status);
    if (tag !== undefined) found = found.where('id', 'in', withTag(userId, tag));
    if (parentId !== undefined) found = found.where('parent_id', '=', parentId);
    if (words !== null) found = found.where('id', 'in', withWords(userId, words));
    return found;
  };

  const dueOf = (userId: string, filter: TaskListFilter) => {
    const { range, isNext, status } = filter;
    let found = filtered(userId, filter);
    const isUnfinished = status === undefined || isToDo(status);
    // Each condition has its own partial index.
    if (isNext || isUnfinished) found = found.where(isUnfinishedRow);
    else found = found.where('ends_at', 'is not', null);
    if (range !== null) found = found.where(BY_DUE, '<', range.to);
    if (range?.from) found = found.where(BY_DUE, '>=', range.from);
    return isNext ? found.where(isUnblocked(userId)).where(hasNoOpenPart(userId)) : found;
  };

  const byDue = async (userId: string, filter: TaskListFilter): Promise<Page<ListedTask>> => {
    const { limit = DEFAULT_LIMIT, cursor } = filter;
    const found = dueOf(userId, filter).select(BY_DUE.as('place'));
    const after = cursor === undefined ? found : found.where(BY_DUE, '>', cursor);
    const read = await after
      .orderBy(BY_DUE)
      .limit(limit + 1)
      .execute();
    const { rows, nextCursor } = cutPage(read, limit);
    return { rows, nextCursor: nextCursor && (rows.at(-1)?.place ?? null) };
  };

  return {
    selections: (userId: string) => taskSelections(db, userId),

    list: (userId: string, filter: TaskListFilter): Promise<Page<ListedTask>> =>
      filter.isNext || filter.range !== null
        ? byDue(userId, filter)
        : newestFirst(filtered(userId, filter), filter),

    get: (userId: string, id: string): Promise<ListedTask | undefined> =>
      taskSelections(db, userId).own().where('id', '=', id).executeTakeFirst(),

    ofEffect: (userId: string, effectId: string): Promise<ListedTask | undefined> =>
      taskSelections(db, userId).own().where('effect_id', '=', effectId).executeTakeFirst(),

    unknown: async (userId: string, ids: string[]): Promise<string[]> => {
      const found = db.selectFrom('tasks').select('id').where(visibleTo(userId));
      const rows = ids.length === 0 ? [] : await found.where('id', 'in', ids).execute();
      const known = new Set(rows.map(({ id }) => id));
      return ids.filter((id) => !known.has(id));
    },

    feed: (userId: string, limit: number): Promise<ListedTask[]> =>
      taskSelections(db, userId)
        .own()
        .where(isUnfinishedRow)
        .where('ends_at', 'is not', null)
        .orderBy(BY_DUE)
        .limit(limit)
        .execute(),

    some: (userId: string, ids: string[]): Promise<ListedTask[]> =>
      taskSelections(db, userId)
        .own()
        .where(sql<boolean>`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
        .execute(),

    /**
     * Moves the tasks that follow their owner's time zone to that zone, including the ends of their
     * due days.
     */
    settleZone: async (userId: string, timezone: string): Promise<void> => {
      const days = await Promise.all(
        (['<', '>'] as const).map((differs) =>
          db
            .selectFrom('tasks')
            .select('due')
            .distinct()
            .where(visibleTo(userId))
            .where(FOLLOWS_ZONE)
            .where('timezone', differs, timezone)
            .execute(),
        ),
      );
      const moves = days.flat().map(({ due }) => {
        const change = { timezone, ...(due !== null && { ends_at: endOfDay(timezone, due) }) };
        const same = db.updateTable('tasks').set(change).where(visibleTo(userId));
        return statement(same.where(FOLLOWS_ZONE).where('due', 'is', due));
      });
      if (moves.length > 0) await transact(moves);
    },
  };
};

export type TasksStore = ReturnType<typeof tasksStore>;

const isUnblocked = (userId: string) =>
  sql<boolean>`NOT EXISTS (SELECT 1 FROM task_blockers AS b
    JOIN tasks AS first ON first.id = b.blocker_id AND first.status IN ('open', 'in_progress')
    WHERE b.user_id = ${userId} AND b.task_id = tasks.id)`;

const hasNoOpenPart = (userId: string) =>
  sql<boolean>`NOT EXISTS (WITH RECURSIVE parts (id, status) AS (
    SELECT part.id, part.status FROM tasks AS part
      WHERE part.parent_id = tasks.id AND part.user_id = ${userId}
    UNION SELECT part.id, part.status FROM parts
      JOIN tasks AS part ON part.parent_id = parts.id AND part.user_id = ${userId}
  ) SELECT 1 FROM parts WHERE status IN ('open', 'in_progress'))`;

const withTag = (userId: string, tag: string) =>
  sql<string>`(SELECT task_id FROM task_tags WHERE user_id = ${userId} AND tag = ${tag})`;

const withWords = (userId: string, words: string[]) =>
  sql<string>`(SELECT task_id FROM task_words WHERE user_id = ${userId}
    AND word IN (SELECT value FROM json_each(${JSON.stringify(words)})))`;
