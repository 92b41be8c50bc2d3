import { type Clock, iso } from '../kernel/clock.js';
import { type DueSource, nextTime, settleEach } from '../schedule/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { updateRows } from '../store/rows.js';
import { type Store, statement, unlessUnmet } from '../store/store.js';
import { executionTable, type HookRow, hookTable } from '../store/tables/hooks.js';
import { hookOf, suspendedAt } from './hook.js';
import { fireStatements, type TriggerDeps } from './triggers.js';

/** A hook that is due, and since when its owner is disabled. */
type DueHook = HookRow & { suspended_at: string | null };

const LATE_MS = 3600 * 1000;

/**
 * Creates the source of the hooks with a schedule, which fires them at their due times. The next due time is a column: firing and
 * moving it on are one transaction, so that a due time neither fires twice nor is lost if the
 * process ends. A due time that passed while the daemon was down fires once if it is under an hour
 * late, and is otherwise recorded as skipped. For a disabled user, due times pass and nothing
 * fires.
 */
export const createHookSchedules = (deps: TriggerDeps & { clock: Clock }): DueSource => {
  const { store, clock, queue } = deps;

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
    await settleEach(due, (row) => unlessUnmet(fire(row)));
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

  return { name: 'hook schedules', nextAt, tick };
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
