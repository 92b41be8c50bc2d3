import { cutPage } from '../../kernel/contract/page.js';
import type { TransactionStep } from '../../store/engine/protocol.js';
import { type Store, statement } from '../../store/store.js';
import type { BackupRow } from '../../store/tables/backups.js';

const columns = [
  'id',
  'kind',
  'cause',
  'status',
  'file',
  'report',
  'error',
  'created_at',
  'finished_at',
  'removed_at',
] as const;

export type End = Pick<BackupRow, 'status' | 'report' | 'error' | 'finished_at'>;

/** Queries for backups and verifications. They belong to the installation, not to a user. */
export const backupRows = ({ db, transact }: Store) => ({
  insert: async (row: BackupRow, also: TransactionStep[]): Promise<void> => {
    await transact([...also, statement(db.insertInto('backups').values(row), 1)]);
  },

  end: async (id: string, end: End): Promise<void> => {
    await db.updateTable('backups').set(end).where('id', '=', id).execute();
  },

  find: (id: string): Promise<BackupRow | undefined> =>
    db.selectFrom('backups').select(columns).where('id', '=', id).executeTakeFirst(),

  list: async ({ limit, cursor }: { limit: number; cursor?: string }) => {
    let query = db.selectFrom('backups').select(columns);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    const rows = await query
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    return cutPage(rows, limit);
  },

  running: (): Promise<BackupRow[]> =>
    db.selectFrom('backups').select(columns).where('status', '=', 'running').execute(),

  /** Returns the newest backup whose file is not known to be removed. */
  newestDone: (): Promise<BackupRow | undefined> =>
    db
      .selectFrom('backups')
      .select(columns)
      .where('kind', '=', 'create')
      .where('status', '=', 'done')
      .where('removed_at', 'is', null)
      .orderBy('id', 'desc')
      .executeTakeFirst(),

  /** Returns the time at which the schedule last began one, ISO 8601. */
  lastScheduledAt: async (): Promise<string | null> => {
    const row = await db
      .selectFrom('backups')
      .select('created_at')
      .where('cause', '=', 'scheduled')
      .orderBy('id', 'desc')
      .executeTakeFirst();
    return row?.created_at ?? null;
  },

  /** Returns the backups that the schedule made, except the newest `kept`. */
  beyond: (kept: number): Promise<BackupRow[]> =>
    db
      .selectFrom('backups')
      .select(columns)
      .where('cause', '=', 'scheduled')
      .where('status', '=', 'done')
      .where('removed_at', 'is', null)
      .orderBy('id', 'desc')
      .limit(1000)
      .offset(kept)
      .execute(),

  removed: async (id: string, at: string): Promise<void> => {
    await db.updateTable('backups').set({ removed_at: at }).where('id', '=', id).execute();
  },

  admins: async (): Promise<string[]> => {
    const rows = await db
      .selectFrom('users')
      .select('id')
      .where('role', '=', 'admin')
      .where('disabled_at', 'is', null)
      .execute();
    return rows.map(({ id }) => id);
  },
});

export type BackupRows = ReturnType<typeof backupRows>;
