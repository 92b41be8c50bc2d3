import type { TransactionStep } from '../../store/engine/protocol.js';
import { newestFirst, type Page, type PageInput } from '../../store/page.js';
import { selectRows } from '../../store/rows.js';
import { type Store, statement } from '../../store/store.js';
import { type BackupRow, backupTable } from '../../store/tables/backups.js';

/** Backups belong to the installation, not to a user. */
export const backupRows = ({ db, transact }: Store) => {
  const backups = (values: Partial<BackupRow> = {}) => selectRows(db, backupTable, values);
  /** Backups whose file was not removed by the schedule, newest first. */
  const present = (values: Partial<BackupRow>) =>
    backups({ ...values, status: 'done', removed_at: null }).orderBy('id', 'desc');

  return {
    insert: async (row: BackupRow, also: TransactionStep[]): Promise<void> => {
      await transact([...also, statement(db.insertInto('backups').values(row), 1)]);
    },

    update: async (id: string, changes: Partial<BackupRow>): Promise<void> => {
      await db.updateTable('backups').set(changes).where('id', '=', id).execute();
    },

    find: (id: string) => backups({ id }).executeTakeFirst(),

    list: (page: PageInput): Promise<Page<BackupRow>> => newestFirst(backups(), page),

    /** True if a finished backup has the file. */
    isDone: async (file: string): Promise<boolean> =>
      (await backups({ kind: 'create', status: 'done', file }).executeTakeFirst()) !== undefined,

    running: () => backups({ status: 'running' }).execute(),

    newestDone: () => present({ kind: 'create' }).executeTakeFirst(),

    /** Backups of the schedule, except the newest `kept`. */
    beyond: (kept: number) => present({ cause: 'scheduled' }).limit(1000).offset(kept).execute(),

    /** Start of the newest scheduled backup, ISO 8601. */
    lastScheduledAt: async (): Promise<string | null> => {
      const newest = backups({ cause: 'scheduled' }).orderBy('id', 'desc');
      return (await newest.executeTakeFirst())?.created_at ?? null;
    },

    admins: () =>
      db
        .selectFrom('users')
        .select('id')
        .where('role', '=', 'admin')
        .where('disabled_at', 'is', null)
        .execute(),
  };
};

export type BackupRows = ReturnType<typeof backupRows>;
