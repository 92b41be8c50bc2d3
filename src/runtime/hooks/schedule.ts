import { Cron } from 'croner';
import { type Clock, iso } from '../../kernel/clock.js';
import type { Log } from '../../kernel/log.js';
import { Unmet } from '../../store/protocol.js';
import { statement } from '../../store/store.js';
import type { HookRow } from '../../store/tables.js';
import { type Hook, hookColumns, hookOf } from './hook.js';
import { fireStatements, type TriggerDeps } from './triggers.js';

export interface Schedule {
  start(): void;
  stop(): void;
  /** Fires what is due now. */
  tick(): Promise<void>;
}

const TICK_MS = 1000;
const LATE_MS = 3600 * 1000;

/** The next time after `now` (ms), ISO 8601, or null where it never comes. */
export const nextTime = (
  cron: string,
  timezone: string | undefined,
  now: number,
): string | null => {
  const next = new Cron(cron, { timezone, paused: true }).nextRun(new Date(now));
  return next === null ? null : iso(next.getTime());
};

/** Why a cron expression or a time zone cannot be used, or null. */
export const faultOfCron = (cron: string, timezone: string | undefined): string | null => {
  try {
    return nextTime(cron, timezone, 0) === null ? 'a time that comes at all' : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/**
 * Fires hooks at their times. The next time is a column: firing and moving it on are one
 * transaction, so a time neither fires twice nor is lost with the process. A time that passed while
 * the daemon was down fires once if it is under an hour late, and is recorded as skipped otherwise.
 */
export const createSchedule = (deps: TriggerDeps & { clock: Clock; log: Log }): Schedule => {
  const { store, clock, queue, log } = deps;
  let timer: NodeJS.Timeout | null = null;

  const fire = async (row: HookRow, hook: Hook): Promise<void> => {
    const now = clock.now();
    const due = row.next_run_at ?? '';
    const isLate = now - Date.parse(due) > LATE_MS;
    const { cron = '', timezone } = hook.triggerConfig;
    const moved = store.db
      .updateTable('hooks')
      .set({ next_run_at: nextTime(cron, timezone, now) })
      .where('id', '=', row.id)
      .where('next_run_at', '=', due);
    const fired = fireStatements(deps, row, { event: 'schedule', scheduledAt: due });
    await store.transact([statement(moved, 1), ...(isLate ? skipped(fired) : fired)]);
    if (!isLate) queue.added(row.id);
  };

  const tick = async (): Promise<void> => {
    const due = await store.db
      .selectFrom('hooks')
      .select(hookColumns)
      .where('trigger', '=', 'schedule')
      .where('enabled', '=', 1)
      .where('next_run_at', '<=', iso(clock.now()))
      .execute();
    for (const row of due) {
      await fire(row, hookOf(row)).catch((error) => {
        if (!(error instanceof Unmet)) throw error;
      });
    }
  };

  /** Every statement but the job's; the execution says why it did not run. */
  const skipped = (fired: ReturnType<typeof fireStatements>) => {
    const [execution, count] = fired;
    if (!execution || !count) return [];
    const sql = `UPDATE executions SET status = 'skipped', error = ?, finished_at = created_at
      WHERE id = ?`;
    const why = 'more than an hour late: the daemon was down';
    return [execution, count, { sql, parameters: [why, execution.parameters[0]], expect: 1 }];
  };

  return {
    tick,
    start: () => {
      const turn = (): void => {
        tick()
          .catch((error) => log.error({ err: error }, 'the schedule could not be read'))
          .finally(() => {
            if (timer) timer = setTimeout(turn, TICK_MS);
          });
      };
      timer = setTimeout(turn, 0);
    },
    stop: () => {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
};
