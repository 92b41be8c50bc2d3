import { Cron } from 'croner';
import { type Clock, iso } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import type { Watch } from '../kernel/watch.js';
import { createDueWatch } from '../store/duewatch.js';
import { type Statement, Unmet } from '../store/engine/protocol.js';
import { updateRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import { executionTable, type HookRow, hookTable } from '../store/tables/hooks.js';
import { hookOf, suspendedAt } from './hook.js';
import { fireStatements, type TriggerDeps } from './triggers.js';

export interface Schedule extends Watch {
  /** Fires the hooks that are due now. */
  tick(): Promise<void>;
}

/** A hook that is due, and since when its owner is disabled. */
type DueHook = HookRow & { suspended_at: string | null };

const LATE_MS = 3600 * 1000;

/**
 * Returns the next due time after `now` (ms) in ISO 8601, or null if it never comes. When clocks
 * change, a fixed local time that does not exist fires at the first time that does, and one that
 * exists twice at the first of the two. With a wildcard minute or hour it goes by elapsed time.
 */
export const nextTime = (
  cron: string,
  timezone: string | undefined,
  now: number,
): string | null => {
  const options = { timezone, paused: true, fixedTimeRule: 'no-wildcard' } as const;
  const next = new Cron(withListedTimes(cron), options).nextRun(new Date(now));
  return next === null ? null : iso(next.getTime());
};

/**
 * Rewrites `8-18/2` in the minute and the hour as a list, because croner takes each step for a
 * wildcard.
 */
const withListedTimes = (cron: string): string => {
  const [minute = '', hour = '', ...days] = cron.trim().split(/\s+/);
  return [listed(minute), listed(hour), ...days].join(' ').trim();
};

const listed = (field: string): string =>
  field.replace(/\b(\d{1,2})-(\d{1,2})\/(\d{1,2})\b/g, (given, from, to, step) => {
    const count = Math.floor((Number(to) - Number(from)) / Number(step)) + 1;
    // Anything that is not a range is left to croner, which refuses it with its own message.
    if (!(count >= 1 && count <= 60)) return given;
    return Array.from({ length: count }, (_, at) => Number(from) + at * Number(step)).join();
  });

/** Returns what a cron expression must be; null if it is valid. */
export const faultOfCron = (cron: string): string | null => {
  try {
    return nextTime(cron, undefined, 0) === null ? 'a time that comes at all' : null;
  } catch {
    return 'five fields: minute, hour, day, month and weekday, as in "30 9 * * 1-5"';
  }
};

/**
 * Creates the timer that fires hooks at their due times. The next due time is a column: firing and
 * moving it on are one transaction, so that a due time neither fires twice nor is lost if the
 * process ends. A due time that passed while the daemon was down fires once if it is under an hour
 * late, and is otherwise recorded as skipped. For a disabled user, due times pass and nothing
 * fires.
 */
export const createSchedule = (deps: TriggerDeps & { clock: Clock; log: Log }): Schedule => {
  const { store, clock, queue, log } = deps;

  const fire = async (row: DueHook): Promise<void> => {
    const now = clock.now();
    const due = row.next_run_at ?? '';
    const isLate = now - Date.parse(due) > LATE_MS;
    const { cron = '', timezone } = hookOf(row).triggerConfig;
    const moved = store.db
      .updateTable('hooks')
      .set({ next_run_at: nextTime(cron, timezone, now) })
      .where('id', '=', row.id)
      .where('enabled', '=', 1)
      .where('next_run_at', '=', due);
    if (row.suspended_at !== null) return void (await store.transact([statement(moved, 1)]));
    const event = { event: 'schedule', scheduledAt: due };
    const { executionId, statements } = fireStatements(deps, row.id, event);
    const late = isLate ? [skipStatement(store, executionId, iso(now))] : [];
    await store.transact([statement(moved, 1), ...statements, ...late]);
    if (!isLate) queue.added(row.id);
  };

  const scheduled = store.db
    .selectFrom('hooks')
    .where('trigger', '=', 'schedule')
    .where('enabled', '=', 1);

  const tick = async (): Promise<void> => {
    const due = await scheduled
      .select(hookTable.columns)
      .select(suspendedAt)
      .where('next_run_at', '<=', iso(clock.now()))
      .execute();
    for (const row of due) {
      await fire(row).catch((error) => {
        if (!(error instanceof Unmet)) throw error;
      });
    }
  };

  const nextAt = async (): Promise<string | null> => {
    const next = await scheduled
      .select('next_run_at')
      .where('next_run_at', 'is not', null)
      .orderBy('next_run_at')
      .limit(1)
      .executeTakeFirst();
    return next?.next_run_at ?? null;
  };

  const failed = (err: unknown): void => log.error({ err }, 'the schedule could not be read');

  return { tick, ...createDueWatch(deps, { tick, nextAt, failed }) };
};

/** Builds the statement that skips an execution, with the reason. */
const skipStatement = ({ db }: Store, executionId: string, at: string): Statement =>
  statement(
    updateRows(db, executionTable, { id: executionId }).set({
      status: 'skipped',
      error: 'more than an hour late: the daemon was down',
      finished_at: at,
      run_at: null,
    }),
    1,
  );
