import type { AuditStep } from '../../kernel/audit.js';
import { newestFirst } from '../../store/page.js';
import { type Store, statement, unlessUnmet } from '../../store/store.js';
import type { PermissionLevel, PermissionRow } from '../../store/tables/permissions.js';

const columns = [
  'id',
  'user_id',
  'skill_id',
  'action',
  'level',
  'reason',
  'expires_at',
  'created_at',
  'updated_at',
] as const;

export interface PermissionFilters {
  limit: number;
  cursor?: string;
  skillId?: string;
  level?: PermissionLevel;
}

/** The tool that an override is for, by its owner. */
export type PermissionKey = Pick<PermissionRow, 'user_id' | 'skill_id' | 'action'>;

export const permissionsStore = ({ db, transact }: Store) => ({
  /** Those in force at that time. */
  list: async (userId: string, filters: PermissionFilters, now: string) => {
    let query = db
      .selectFrom('permissions')
      .select(columns)
      .where('user_id', '=', userId)
      .where((of) => of.or([of('expires_at', 'is', null), of('expires_at', '>', now)]));
    if (filters.skillId !== undefined) query = query.where('skill_id', '=', filters.skillId);
    if (filters.level) query = query.where('level', '=', filters.level);
    return newestFirst(query, filters);
  },

  /** In place of what there was for the same tool; as it is kept then. */
  set: async (row: PermissionRow, step: AuditStep): Promise<PermissionRow> => {
    const { level, reason, expires_at, updated_at } = row;
    const upsert = db
      .insertInto('permissions')
      .values(row)
      .onConflict((on) =>
        on
          .columns(['user_id', 'skill_id', 'action'])
          .doUpdateSet({ level, reason, expires_at, updated_at }),
      );
    await transact([statement(upsert, 1), step]);
    const kept = await db
      .selectFrom('permissions')
      .select(columns)
      .where('user_id', '=', row.user_id)
      .where('skill_id', '=', row.skill_id)
      .where('action', '=', row.action)
      .executeTakeFirst();
    return kept ?? row;
  },

  /** False where there was none. */
  reset: (key: PermissionKey, step: AuditStep): Promise<boolean> => {
    const removed = db
      .deleteFrom('permissions')
      .where('user_id', '=', key.user_id)
      .where('skill_id', '=', key.skill_id)
      .where('action', '=', key.action);
    return unlessUnmet(transact([statement(removed, 1), step]));
  },
});

export type PermissionsStore = ReturnType<typeof permissionsStore>;
