import { sql } from 'kysely';
import { READER_VERSION } from '../documents/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { newestFirst, type PageInput } from '../store/page.js';
import { insertRow, selectCount, selectRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import {
  type KnowledgeFileRow,
  type KnowledgeFolderRow,
  knowledgeFileTable,
  knowledgeFolderTable,
} from '../store/tables/folders.js';
import { visibleTo } from '../store/visible.js';

export type FileCounts = Record<KnowledgeFileRow['status'], number>;

/** Size that makes the next scan read the file again. */
export const UNKNOWN_SIZE = -1;
/** Files removed per transaction, with their entries. */
export const REMOVED_AT_ONCE = 50;

/** Stamp of a file as it is stored. A new reader may read more of a file that was not read completely. */
export const formatFileStamp = (
  { status, error }: Pick<KnowledgeFileRow, 'status' | 'error'>,
  stamp: string | null,
): string | null =>
  stamp === null || (status === 'ready' && error === null) ? stamp : `${stamp}${OF_READER}`;

const OF_READER = ` ${READER_VERSION}`;

/** Whether this version of the reader would read no more of a file. */
export const isReadAsFarAsPossible = ({ status, error, stamp }: KnowledgeFileRow): boolean =>
  status === 'ready' && (error === null || (stamp?.endsWith(OF_READER) ?? false));

const createFileQueries = ({ db }: Store) => {
  const ownFiles = (userId: string, folderId: string) =>
    selectRows(db, knowledgeFileTable, { folder_id: folderId }, visibleTo(userId));

  const removal = (userId: string, ids: string[]): TransactionStep[] => [
    statement(
      db
        .deleteFrom('knowledge_entries')
        .where(visibleTo(userId))
        .where('source_type', '=', 'file')
        .where('source_id', 'in', ids),
    ),
    statement(db.deleteFrom('knowledge_files').where(visibleTo(userId)).where('id', 'in', ids)),
  ];

  return {
    files: (userId: string, folderId: string): Promise<KnowledgeFileRow[]> =>
      ownFiles(userId, folderId).execute(),

    some: (userId: string, folderId: string, limit: number): Promise<KnowledgeFileRow[]> =>
      ownFiles(userId, folderId).limit(limit).execute(),

    counts: async (userId: string, folderId: string): Promise<FileCounts> => {
      const rows = await db
        .selectFrom('knowledge_files')
        .select(({ fn }) => ['status', fn.countAll<number>().as('count')])
        .where(visibleTo(userId))
        .where('folder_id', '=', folderId)
        .groupBy('status')
        .execute();
      const counts: FileCounts = { pending: 0, ready: 0, failed: 0, skipped: 0 };
      for (const { status, count } of rows) counts[status] = count;
      return counts;
    },

    failures: (userId: string, folderId: string, limit: number): Promise<KnowledgeFileRow[]> =>
      ownFiles(userId, folderId)
        .where('status', '!=', 'pending')
        .where(({ or, eb }) => or([eb('status', '!=', 'ready'), eb('error', 'is not', null)]))
        .orderBy(sql`status != 'failed'`)
        .orderBy('path')
        .limit(limit)
        .execute(),

    keepFile: (row: KnowledgeFileRow): TransactionStep => {
      const { path, bytes, modified_ms, sha256, status, error } = row;
      const stamp = formatFileStamp(row, row.stamp);
      return statement(
        db
          .insertInto('knowledge_files')
          .values({ ...row, stamp })
          .onConflict((on) =>
            on.column('id').doUpdateSet({ path, bytes, modified_ms, stamp, sha256, status, error }),
          ),
        1,
      );
    },

    /** Makes the next scan read all files of a folder again. */
    forgetSizes: (userId: string, folderId: string): TransactionStep =>
      statement(
        db
          .updateTable('knowledge_files')
          .set({ bytes: UNKNOWN_SIZE })
          .where(visibleTo(userId))
          .where('folder_id', '=', folderId),
      ),

    removal,
  };
};

export const foldersStore = (store: Store) => {
  const { db, transact } = store;
  const own = (userId: string) => selectRows(db, knowledgeFolderTable, {}, visibleTo(userId));
  const files = createFileQueries(store);

  return {
    list: (userId: string, page: PageInput) => newestFirst(own(userId), page),

    count: async (userId: string): Promise<number> => {
      const count = selectCount(db, knowledgeFolderTable, {}, visibleTo(userId));
      return (await count.executeTakeFirstOrThrow()).count;
    },

    get: (userId: string, id: string): Promise<KnowledgeFolderRow | undefined> =>
      own(userId).where('id', '=', id).executeTakeFirst(),

    atPath: (userId: string, path: string): Promise<KnowledgeFolderRow | undefined> =>
      own(userId).where('path', '=', path).executeTakeFirst(),

    watched: (): Promise<KnowledgeFolderRow[]> =>
      selectRows(db, knowledgeFolderTable, { watch: 1 }).execute(),

    insert: (row: KnowledgeFolderRow): TransactionStep => insertRow(knowledgeFolderTable, row),

    /** Fails if the folder was deleted. */
    change: (id: string, change: Partial<KnowledgeFolderRow>): TransactionStep =>
      statement(db.updateTable('knowledge_folders').set(change).where('id', '=', id), 1),

    ...files,

    delete: async (userId: string, id: string): Promise<void> => {
      const unwatched = db.updateTable('knowledge_folders').set({ watch: 0 });
      await transact([statement(unwatched.where(visibleTo(userId)).where('id', '=', id))]);
      for (;;) {
        const some = await files.some(userId, id, REMOVED_AT_ONCE);
        if (some.length === 0) break;
        const ids = some.map((row) => row.id);
        await transact(files.removal(userId, ids));
      }
      const folder = db.deleteFrom('knowledge_folders').where(visibleTo(userId));
      await transact([statement(folder.where('id', '=', id))]);
    },
  };
};

export type FoldersStore = ReturnType<typeof foldersStore>;
