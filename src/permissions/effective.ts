import { type Clock, iso } from '../kernel/clock.js';
import type { Store } from '../store/store.js';
import type { EffectivePermissions } from './rules.js';

/**
 * Reads a user's permissions as they are now. It is called for every tool call, so that a change
 * takes effect at once.
 */
export type PermissionsOf = (userId: string) => Promise<EffectivePermissions>;

export const createPermissionsOf =
  ({ store: { db }, clock }: { store: Store; clock: Clock }): PermissionsOf =>
  async (userId) => {
    const [overrides, user] = await Promise.all([
      db
        .selectFrom('permissions')
        .select(['skill_id', 'action', 'level'])
        .where('user_id', '=', userId)
        .where((of) =>
          of.or([of('expires_at', 'is', null), of('expires_at', '>', iso(clock.now()))]),
        )
        .execute(),
      db
        .selectFrom('users')
        .select(['role', 'permissions'])
        .where('id', '=', userId)
        .executeTakeFirst(),
    ]);
    const given: Record<string, unknown> = user ? JSON.parse(user.permissions) : {};
    const may = (right: string): boolean => {
      const own = given[right];
      return typeof own === 'boolean' ? own : user?.role === 'admin';
    };
    return { overrides, may };
  };
