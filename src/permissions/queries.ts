import { sql } from 'kysely';
import { type Clock, iso } from '../kernel/clock.js';
import type { AuditStep } from '../kernel/contract/audit.js';
import type { Input } from '../kernel/contract/endpoint.js';
import type { Statement } from '../store/engine/protocol.js';
import { newestFirst } from '../store/page.js';
import { assertRows, isCommitted, type Store, statement } from '../store/store.js';
import { type PermissionRow, permissionTable } from '../store/tables/permissions.js';
import { visibleTo } from '../store/visible.js';
import type { permissions as contract } from './contract.js';
import { type EffectivePermissions, effectivePermissions } from './rules.js';

export type PermissionKey = Pick<PermissionRow, 'user_id' | 'skill_id' | 'action'>;

const inForce = (now: string) =>
  sql<boolean>`(permissions.expires_at IS NULL OR permissions.expires_at > ${now})`;

export const permissionsStore = ({ db, transact }: Store) => {
  const visible = (userId: string) =>
    db.selectFrom('permissions').select(permissionTable.columns).where(visibleTo(userId));

  return {
    /** Includes expired levels. */
    ofSkill: (userId: string, skillId: string): Promise<PermissionRow[]> =>
      visible(userId).where('skill_id', '=', skillId).execute(),

    /** Only levels that are valid at `now`. */
    list: (userId: string, filters: Input<typeof contract.list>['query'], now: string) => {
      const { skillId: skill_id, level } = filters;
      return newestFirst(
        visible(userId)
          .where(inForce(now))
          .where((of) => of.and({ skill_id, level })),
        filters,
      );
    },

    /** Replaces the level of the same tool. Returns null if the levels of the skill have changed. */
    set: async (
      row: PermissionRow,
      read: PermissionRow[],
      step: AuditStep,
    ): Promise<PermissionRow | null> => {
      const { user_id, skill_id, action, level, reason, expires_at, updated_at } = row;
      const upsert = db
        .insertInto('permissions')
        .values(row)
        .onConflict((on) =>
          on
            .columns(['user_id', 'skill_id', 'action'])
            .doUpdateSet({ level, reason, expires_at, updated_at }),
        );
      const steps = [...asRead(db, row, read), statement(upsert, 1), step];
      if (!(await isCommitted(transact(steps)))) return null;
      const kept = visible(user_id).where((of) => of.and({ skill_id, action }));
      return (await kept.executeTakeFirst()) ?? row;
    },

    /** False if no level was set, null if the levels of the skill have changed since they were read. */
    reset: async (
      key: PermissionKey,
      read: PermissionRow[],
      step: AuditStep,
    ): Promise<boolean | null> => {
      const { user_id, skill_id, action } = key;
      if (!read.some((row) => row.action === action)) return false;
      const removed = db
        .deleteFrom('permissions')
        .where((of) => of.and({ user_id, skill_id, action }));
      const steps = [...asRead(db, key, read), statement(removed, 1), step];
      return (await isCommitted(transact(steps))) || null;
    },
  };
};

/** The statements throw Unmet unless the levels of the skill are exactly those that were read. */
const asRead = (
  db: Store['db'],
  { user_id, skill_id }: PermissionKey,
  read: PermissionRow[],
): Statement[] => {
  const ofSkill = db
    .selectFrom('permissions')
    .select('id')
    .where(visibleTo(user_id))
    .where('skill_id', '=', skill_id);
  const same = read.map(({ id, level, expires_at }) =>
    ofSkill
      .where('id', '=', id)
      .where('level', '=', level)
      .where('expires_at', expires_at === null ? 'is' : '=', expires_at),
  );
  return [assertRows(ofSkill, read.length), ...same.map((one) => assertRows(one, 1))];
};

export type PermissionsStore = ReturnType<typeof permissionsStore>;

/** Called for every tool call, so that a change takes effect at once. */
export const createPermissionsLoader =
  ({ db }: Store, clock: Clock) =>
  async (userId: string): Promise<EffectivePermissions> => {
    const [overrides, user] = await Promise.all([
      db
        .selectFrom('permissions')
        .select(['skill_id', 'action', 'level'])
        .where(visibleTo(userId))
        .where(inForce(iso(clock.now())))
        .execute(),
      db
        .selectFrom('users')
        .select(['role', 'permissions'])
        .where('id', '=', userId)
        .executeTakeFirst(),
    ]);
    return effectivePermissions(overrides, user);
  };

export type PermissionsOf = ReturnType<typeof createPermissionsLoader>;
