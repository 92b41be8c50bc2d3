import type { Store } from '../store/store.js';
import type { DayCaps } from './procedures/spending.js';

/** What the agents of a user, and those of a hook, may use up in a day. */
export interface Allowances {
  ofUser: DayCaps;
  ofHook: DayCaps;
}
export type AllowancesOf = (of: { userId: string; hookId: string | null }) => Promise<Allowances>;

const ANY: DayCaps = { dailyCostUsd: null, dailyTokens: null, dailySteps: null };

/**
 * Of a user as an admin set it, else as the settings say; of a hook as its owner set it. Asked anew for
 * every step, so that a change acts.
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
