import type { Statement } from '../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../store/page.js';
import { insertRow, selectRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import {
  type ReaderContentRow,
  type ReaderTaskRow,
  readerContentTable,
  readerTaskTable,
} from '../store/tables/reader.js';
import { visibleTo } from '../store/visible.js';

interface TaskFilter extends PageInput {
  status?: ReaderTaskRow['status'] | undefined;
  kind?: ReaderTaskRow['kind'] | undefined;
  url?: string | undefined;
}

export const readerStore = ({ db, transact }: Store) => {
  const own = (userId: string) => selectRows(db, readerTaskTable, {}, visibleTo(userId));
  const open = (id: string) =>
    db
      .updateTable('reader_tasks')
      .where('id', '=', id)
      .where('status', 'in', ['queued', 'running']);

  return {
    list: (
      userId: string,
      { status, kind, url, ...page }: TaskFilter,
    ): Promise<Page<ReaderTaskRow>> =>
      newestFirst(selectRows(db, readerTaskTable, { status, kind, url }, visibleTo(userId)), page),

    get: (userId: string, id: string): Promise<ReaderTaskRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    content: (userId: string, id: string): Promise<ReaderContentRow | undefined> =>
      db
        .selectFrom('reader_tasks as t')
        .innerJoin('reader_contents as c', 'c.task_id', 't.id')
        .select(['c.task_id', 'c.content', 'c.links'])
        .where(visibleTo(userId, 't'))
        .where('t.id', '=', id)
        .executeTakeFirst(),

    /** Returns the previous task for the same address and format. */
    previous: async ({
      user_id,
      id,
      url,
      format,
    }: ReaderTaskRow): Promise<Pick<ReaderTaskRow, 'id' | 'sha256'> | undefined> =>
      db
        .selectFrom('reader_tasks')
        .select(['id', 'sha256'])
        .where(visibleTo(user_id))
        .where('url', '=', url)
        .where('id', '<', id)
        .where('format', '=', format)
        .where('status', '=', 'completed')
        .where('sha256', 'is not', null)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst(),

    insert: (row: ReaderTaskRow): Statement => insertRow(readerTaskTable, row),

    change: (id: string, change: Partial<ReaderTaskRow>): Statement =>
      statement(open(id).set(change), 1),

    /** Keeps an existing error. */
    end: (
      id: string,
      { status, error, at }: { status: ReaderTaskRow['status']; error: string | null; at: string },
    ): Statement => ({
      sql: `UPDATE reader_tasks SET status = ?, error = coalesce(error, ?), finished_at = ?
        WHERE id = ? AND status IN ('queued', 'running')`,
      parameters: [status, error, at, id],
    }),

    insertContent: (row: ReaderContentRow): Statement => insertRow(readerContentTable, row),

    delete: (userId: string, id: string): Promise<boolean> =>
      isCommitted(
        transact([
          statement(db.deleteFrom('reader_tasks').where(visibleTo(userId)).where('id', '=', id), 1),
        ]),
      ),
  };
};

export type ReaderStore = ReturnType<typeof readerStore>;
