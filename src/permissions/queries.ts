import type { AuditStep } from '../kernel/contract/audit.js';
import type { Statement } from '../store/engine/protocol.js';
import { newestFirst } from '../store/page.js';
import { type Store, statement, unlessUnmet } from '../store/store.js';
import type { PermissionLevel, PermissionRow } from '../store/tables/permissions.js';

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

/** The owner and the tool that an override is for. */
export type PermissionKey = Pick<PermissionRow, 'user_id' | 'skill_id' | 'action'>;

export const permissionsStore = ({ db, transact }: Store) => ({
  /** Returns all levels that a user has set for a skill, including those that have expired. */
  ofSkill: (userId: string, skillId: string): Promise<PermissionRow[]> =>
    db
      .selectFrom('permissions')
      .select(columns)
      .where('user_id', '=', userId)
      .where('skill_id', '=', skillId)
      .execute(),

  /** Returns the levels in force at that time. */
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

  /**
   * Sets a level in place of the one for the same tool, and returns the stored row. Returns null if
   * the levels of the skill are no longer those that were read.
   */
  set: async (
    row: PermissionRow,
    read: PermissionRow[],
    step: AuditStep,
  ): Promise<PermissionRow | null> => {
    const { level, reason, expires_at, updated_at } = row;
    const upsert = db
      .insertInto('permissions')
      .values(row)
      .onConflict((on) =>
        on
          .columns(['user_id', 'skill_id', 'action'])
          .doUpdateSet({ level, reason, expires_at, updated_at }),
      );
    const steps = [...asRead(db, row, read), statement(upsert, 1), step];
    if (!(await unlessUnmet(transact(steps)))) return null;
    const kept = await db
      .selectFrom('permissions')
      .select(columns)
      .where('user_id', '=', row.user_id)
      .where('skill_id', '=', row.skill_id)
      .where('action', '=', row.action)
      .executeTakeFirst();
    return kept ?? row;
  },

  /**
   * Returns false if no level was set, and null if the levels of the skill are no longer those that
   * were read.
   */
  reset: async (
    key: PermissionKey,
    read: PermissionRow[],
    step: AuditStep,
  ): Promise<boolean | null> => {
    if (!read.some(({ action }) => action === key.action)) return false;
    const removed = db
      .deleteFrom('permissions')
      .where('user_id', '=', key.user_id)
      .where('skill_id', '=', key.skill_id)
      .where('action', '=', key.action);
    const steps = [...asRead(db, key, read), statement(removed, 1), step];
    return (await unlessUnmet(transact(steps))) || null;
  },
});

/**
 * Builds statements that hold while the levels of the skill are exactly those that were read; they
 * throw Unmet otherwise.
 */
const asRead = (
  db: Store['db'],
  { user_id, skill_id }: PermissionKey,
  read: PermissionRow[],
): Statement[] => {
  const ofSkill = db
    .updateTable('permissions')
    .set((of) => ({ updated_at: of.ref('updated_at') }))
    .where('user_id', '=', user_id)
    .where('skill_id', '=', skill_id);
  const same = read.map(({ id, level, expires_at }) =>
    ofSkill
      .where('id', '=', id)
      .where('level', '=', level)
      .where('expires_at', expires_at === null ? 'is' : '=', expires_at),
  );
  return [statement(ofSkill, read.length), ...same.map((one) => statement(one, 1))];
};

export type PermissionsStore = ReturnType<typeof permissionsStore>;
