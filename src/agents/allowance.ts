import type { Store } from '../store/store.js';
import type { DayCaps } from './procedures/spending.js';

/** The daily limits of a user's agents together, and of a hook's. */
export interface Allowances {
  ofUser: DayCaps;
  ofHook: DayCaps;
}
export type AllowancesOf = (of: { userId: string; hookId: string | null }) => Promise<Allowances>;

const ANY: DayCaps = { dailyCostUsd: null, dailyTokens: null, dailySteps: null };

/**
 * Creates the function that reads the daily limits. A user has those that an admin set, otherwise
 * those of the settings; a hook has those that its owner set. They are read anew for every step, so
 * that a change takes effect at once.
 */
export const createAllowances =
  ({ db }: Pick<Store, 'db'>, { dailyCostUsd }: { dailyCostUsd: number }): AllowancesOf =>
  async ({ userId, hookId }) => {
    const user = db.selectFrom('users').select('limits').where('id', '=', userId);
    const hook = db
      .selectFrom('hooks')
      .select('limits')
      .where('id', '=', hookId ?? '');
    const [users, hooks] = await Promise.all([
      user.executeTakeFirst(),
      hookId === null ? undefined : hook.executeTakeFirst(),
    ]);
    return {
      ofUser: { ...ANY, dailyCostUsd, ...capsIn(users?.limits) },
      ofHook: { ...ANY, ...capsIn(hooks?.limits) },
    };
  };

const capsIn = (limits: string | null | undefined): Partial<DayCaps> =>
  limits ? JSON.parse(limits) : {};
