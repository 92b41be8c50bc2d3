import { type Clock, iso, isTimezone } from '../kernel/clock.js';
import { normalizeTimezone } from '../kernel/timezone.js';
import { type DueSource, nextTime, settleEach } from '../schedule/module.js';
import type { Statement } from '../store/engine/protocol.js';
import { updateRows } from '../store/rows.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import { executionTable, type HookRow, hookTable } from '../store/tables/hooks.js';
import { parseHookRow, suspendedAt, type TriggerConfig } from './hook.js';
import { fireStatements, type TriggerDeps } from './triggers.js';

type DueHook = HookRow & { suspended_at: string | null };

const LATE_MS = 3600 * 1000;

/**
 * Firing and advancing the due time are one transaction, so that a due time neither fires twice nor
 * is lost in a crash. A due time missed while the daemon was not running fires once if it is less
 * than an hour late, otherwise it is recorded as skipped. Hooks of disabled users do not fire.
 */
export const createHookSchedules = (deps: TriggerDeps & { clock: Clock }): DueSource => {
  const { store, clock, queue } = deps;

  const fire = async (row: DueHook): Promise<void> => {
    const now = clock.now();
    const due = row.next_run_at ?? '';
    const isLate = now - Date.parse(due) > LATE_MS;
    const { cron = '', timezone = DEFAULT_TIMEZONE } = parseHookRow(row).triggerConfig;
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
    await settleEach(due, (row) => isCommitted(fire(row)));
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

/** For schedules without a time zone. */
const DEFAULT_TIMEZONE = 'UTC';

/** A change without a time zone keeps the current one. */
export const zonedTrigger = <T extends TriggerConfig>(
  trigger: HookRow['trigger'],
  config: T,
  before: string = DEFAULT_TIMEZONE,
): T =>
  trigger === 'schedule'
    ? { ...config, timezone: normalizeTimezone(config.timezone ?? before) }
    : config;

/** Adds the time zone of the machine to old schedules without one. Returns the changed rows. */
export const withZones = async ({ db, transact }: Store, rows: HookRow[]): Promise<HookRow[]> => {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = isTimezone(here) ? here : DEFAULT_TIMEZONE;
  const writes: Statement[] = [];
  const zoned = rows.map((row) => {
    if (row.trigger !== 'schedule' || parseHookRow(row).triggerConfig.timezone !== undefined)
      return row;
    const trigger_config = JSON.stringify({ ...parseHookRow(row).triggerConfig, timezone: zone });
    writes.push(statement(updateRows(db, hookTable, { id: row.id }).set({ trigger_config }), 1));
    return { ...row, trigger_config };
  });
  if (writes.length > 0) await transact(writes);
  return zoned;
};

/**
 * Skips due times that passed while the schedule was disabled. Otherwise keeps the due time,
 * because it may be firing at this moment.
 */
export const scheduleChanges = (
  { clock }: Pick<TriggerDeps, 'clock'>,
  row: HookRow,
  after: {
    trigger: HookRow['trigger'];
    triggerConfig: TriggerConfig;
    enabled: boolean | undefined;
  },
): Partial<HookRow> => {
  const { cron, timezone }: TriggerConfig = JSON.parse(row.trigger_config);
  const { trigger, triggerConfig, enabled } = after;
  const isSame =
    trigger === row.trigger && cron === triggerConfig.cron && timezone === triggerConfig.timezone;
  if (isSame && !(enabled === true && row.enabled === 0)) return {};
  return { next_run_at: nextRun(trigger, triggerConfig, clock.now()) };
};

export const nextRun = (
  trigger: HookRow['trigger'],
  { cron, timezone }: TriggerConfig,
  now: number,
): string | null =>
  trigger === 'schedule' && cron ? nextTime(cron, timezone ?? DEFAULT_TIMEZONE, now) : null;

const skipStatement = ({ db }: Store, executionId: string, at: string): Statement =>
  statement(
    updateRows(db, executionTable, { id: executionId }).set({
      status: 'skipped',
      error: 'more than an hour late because the daemon was not running',
      finished_at: at,
      run_at: null,
    }),
    1,
  );
