import Boom from '@hapi/boom';
import { actionFaults, type ManualRuns, newlyGrantedTools } from '../hooks/module.js';
import { iso } from '../kernel/clock.js';
import type { Caller } from '../kernel/contract/endpoint.js';
import { mint } from '../kernel/ids.js';
import { canonical } from '../kernel/jsonvalue.js';
import type { FieldFault } from '../kernel/problem.js';
import { badRequest, orNotFound, throwIfFaults } from '../kernel/route.js';
import { normalizeTimezone } from '../kernel/timezone.js';
import type { GrantRule } from '../permissions/module.js';
import type { PipelineStarts } from '../pipelines/module.js';
import { faultOfRecurrence, type Recurrence, zoneOfRule } from '../schedule/module.js';
import { unmetStep } from '../store/store.js';
import type { RecurringRunRow, RecurringTaskRow } from '../store/tables/recurringtasks.js';
import { retryUntilWritten, updateIf } from '../store/updateif.js';
import { createBatch } from './begin.js';
import type { NewRecurringTask, RecurringConfig, RecurringTaskChanges } from './contract.js';
import type { DueDeps } from './fire.js';
import { lastRunStep, MAX_RECURRING, type RecurringStore } from './queries.js';
import { disallowedFields, nextRunAt, type RecurrenceRow } from './rules.js';

export interface RecurringDeps extends DueDeps {
  named: Parameters<typeof actionFaults>[2];
  grants: GrantRule;
  fires: { hooks: ManualRuns; pipelines: Pick<PipelineStarts, 'check'> };
}

type Checked = Pick<RecurringTaskRow, 'action'> & {
  schedule: Recurrence;
  config: RecurringConfig;
};

export const addRecurring = async (
  deps: RecurringDeps,
  by: Caller,
  input: NewRecurringTask,
): Promise<RecurringTaskRow> => {
  const now = deps.clock.now();
  const { action, actionConfig: config = {}, enabled = true } = input;
  const schedule = fillTimezone(input.schedule);
  await refuse(deps, by, null, { schedule, action, config });
  const row: RecurringTaskRow = {
    id: mint('recurring', now),
    user_id: by.userId,
    title: input.title,
    schedule: JSON.stringify(schedule),
    starts_at: iso(now),
    action,
    action_config: JSON.stringify(config),
    enabled: enabled ? 1 : 0,
    missed: input.missed ?? 'once',
    overlap: input.overlap ?? 'skip',
    next_run_at: null,
    last_due_at: null,
    last_run_at: null,
    last_status: null,
    last_error: null,
    run_count: 0,
    failing: 0,
    ends_at: input.endsAt ?? null,
    max_runs: input.maxRuns ?? null,
    created_at: iso(now),
    updated_at: iso(now),
  };
  if (enabled) row.next_run_at = await firstRunAt(row, now);
  if (await deps.rows.insert(row)) return row;
  throw Boom.conflict(
    `You already have ${MAX_RECURRING} recurring tasks, which is the maximum. Delete a recurring task first`,
    {
      code: 'too_many_recurring_tasks',
    },
  );
};

export const updateRecurring = (
  deps: RecurringDeps,
  by: Caller,
  id: string,
  input: RecurringTaskChanges,
): Promise<RecurringTaskRow> =>
  updateIf({
    clock: deps.clock,
    read: () => findRecurring(deps, by.userId, id),
    write: async (row, version) => {
      const changes = {
        ...(await buildRecurringChanges(deps, by, row, input)),
        updated_at: version,
      };
      return (await deps.rows.update(row, changes)) ? { ...row, ...changes } : null;
    },
  });

const buildRecurringChanges = async (
  deps: RecurringDeps,
  by: Caller,
  row: RecurringTaskRow,
  input: RecurringTaskChanges,
): Promise<Partial<RecurringTaskRow>> => {
  const now = deps.clock.now();
  const before = parseRecurringRow(row);
  const after = {
    schedule: input.schedule
      ? fillTimezone(input.schedule, before.schedule.timezone)
      : before.schedule,
    action: input.action ?? before.action,
    config: input.actionConfig ?? before.config,
  };
  await refuse(deps, by, before, after);
  const isMoved = canonical(before.schedule) !== canonical(after.schedule);
  const changed = {
    title: input.title ?? row.title,
    schedule: JSON.stringify(after.schedule),
    starts_at: isMoved ? iso(now) : row.starts_at,
    action: after.action,
    action_config: JSON.stringify(after.config),
    enabled: (input.enabled ?? row.enabled === 1) ? 1 : 0,
    missed: input.missed ?? row.missed,
    overlap: input.overlap ?? row.overlap,
    ends_at: input.endsAt === undefined ? row.ends_at : input.endsAt,
    max_runs: input.maxRuns === undefined ? row.max_runs : input.maxRuns,
  };
  if (changed.enabled === 0) return { ...changed, next_run_at: null };
  const hasLimits = changed.ends_at !== row.ends_at || changed.max_runs !== row.max_runs;
  // A change does not drop a due time that has not fired yet.
  if (isPending(row, changed, now)) return changed;
  if (row.enabled === 1 && !isMoved && !hasLimits) return changed;
  return { ...changed, next_run_at: await firstRunAt({ ...row, ...changed }, now) };
};

/** Whether a due time has passed but not fired, within the current limits. */
const isPending = (
  { enabled, next_run_at, run_count }: RecurringTaskRow,
  limits: Pick<RecurringTaskRow, 'ends_at' | 'max_runs'>,
  now: number,
): boolean =>
  enabled === 1 &&
  next_run_at !== null &&
  next_run_at <= iso(now) &&
  (limits.ends_at === null || limits.ends_at >= next_run_at) &&
  (limits.max_runs === null || limits.max_runs > run_count);

/** Throws 400 if there is no due time. */
const firstRunAt = async (
  row: RecurrenceRow & Pick<RecurringTaskRow, 'max_runs' | 'run_count'>,
  now: number,
): Promise<string> => {
  if (row.max_runs !== null && (row.run_count ?? 0) >= row.max_runs) {
    throw badRequest([
      {
        path: 'maxRuns',
        message: `must be greater than the current number of runs (${row.run_count})`,
      },
    ]);
  }
  const next = await nextRunAt(row, now);
  if (next !== null) return next;
  const message = 'must leave at least one future due time';
  throw badRequest([{ path: row.ends_at === null ? 'schedule' : 'endsAt', message }]);
};

export const fillTimezone = (
  { timezone, ...times }: NewRecurringTask['schedule'],
  before = 'UTC',
): Recurrence => ({
  ...times,
  timezone: normalizeTimezone(timezone ?? zoneOfRule(times.rrule) ?? before),
});

const parseRecurringRow = (row: RecurringTaskRow): Checked => ({
  schedule: JSON.parse(row.schedule),
  action: row.action,
  config: JSON.parse(row.action_config),
});

const refuse = async (
  deps: RecurringDeps,
  by: Caller,
  before: Checked | null,
  after: Checked,
): Promise<void> => {
  const { action, config } = after;
  const ofSchedule = await faultOfRecurrence(after.schedule, deps.clock.now());
  const isSameSchedule = before && canonical(before.schedule) === canonical(after.schedule);
  const faults: FieldFault[] = [];
  if (ofSchedule && !isSameSchedule) {
    faults.push({ ...ofSchedule, path: `schedule.${ofSchedule.path}` });
  }
  faults.push(...disallowedFields(action, config), ...configFaults(deps, by.userId, before, after));
  throwIfFaults(faults);
  if (action === 'run_hook') await refuseHook(deps, by, config);
  if (action === 'start_pipeline') await refusePipeline(deps, by, before, after);
  const acting = (names: string[]) => deps.grants.acting(by.userId, names);
  deps.grants.refuse(by, newlyGrantedTools(acting, before && granting(before), granting(after)));
};

const configFaults = (
  { named }: RecurringDeps,
  userId: string,
  before: Checked | null,
  { action, config: actionConfig }: Checked,
): FieldFault[] => {
  if (action === 'run_hook') {
    const isObject =
      typeof (actionConfig.payload ?? {}) === 'object' && actionConfig.payload !== null;
    const path = actionConfig.hookId ? 'actionConfig.payload' : 'actionConfig.hookId';
    if (actionConfig.hookId && isObject) return [];
    return [
      { path, message: actionConfig.hookId ? 'must be a JSON object or array' : 'is required' },
    ];
  }
  if (action !== 'spawn_agent' && action !== 'notify') return [];
  // A tool or model that has since been removed must not block a change of other fields.
  const isSame = before && canonical(before.config) === canonical(actionConfig);
  return isSame ? [] : actionFaults({ action, actionConfig }, userId, named);
};

/** Throws if the pipeline cannot start, or if the caller may not grant the tools of its stages. */
const refusePipeline = async (
  { fires, grants }: RecurringDeps,
  by: Caller,
  before: Checked | null,
  after: Checked,
): Promise<void> => {
  // A template that has since been deleted or changed must not block a change of other fields.
  if (before && canonical(granting(before)) === canonical(granting(after))) return;
  const { faults, tools } = await fires.pipelines.check(by.userId, after.config);
  throwIfFaults(faults.map(({ path, message }) => ({ path: `actionConfig.${path}`, message })));
  grants.refuse(by, grants.acting(by.userId, tools));
};

const refuseHook = async (
  { fires: { hooks }, grants }: RecurringDeps,
  by: Caller,
  { hookId = '' }: RecurringConfig,
): Promise<void> => {
  const hook = await hooks.find(by.userId, hookId);
  if (!hook)
    throw badRequest([{ path: 'actionConfig.hookId', message: 'refers to an unknown hook' }]);
  await hooks.refuse(grants, by, hook);
};

const granting = ({ action, config, schedule }: Checked) => ({
  action,
  actionConfig: config,
  conditions: [],
  firedBy: canonical(schedule),
});

export const findRecurring = async (
  { rows }: { rows: RecurringStore },
  userId: string,
  id: string,
): Promise<RecurringTaskRow> =>
  orNotFound(await rows.get(userId, id), 'No recurring task with that id');

/** Throws 409 if another run is active and the overlap policy is `skip`. */
export const runNow = async (
  deps: RecurringDeps,
  by: Caller,
  id: string,
): Promise<RecurringRunRow> => {
  const { store, rows, grants } = deps;
  const found = await findRecurring(deps, by.userId, id);
  const { action, config } = parseRecurringRow(found);
  if (action === 'run_hook' && by.impersonator) await refuseHook(deps, by, config);
  grants.refuseUse(by, config.agentTools ?? []);
  if (action === 'start_pipeline' && by.impersonator) {
    grants.refuseUse(by, (await deps.fires.pipelines.check(by.userId, config)).tools);
  }
  return retryUntilWritten(async () => {
    const task = await findRecurring(deps, by.userId, id);
    const open = await rows.open(id);
    const batch = createBatch(deps, task, open);
    await batch.add(null);
    const { run, steps, last, committed } = batch.changes();
    if (!run || run.status === 'skipped')
      throw underWay(run?.reason ?? 'the run cannot be started');
    const all = [rows.onlyWhile(id, open), ...steps, lastRunStep(store, id, last)];
    const written = Object.keys(last).length === 0 ? all.slice(0, -1) : all;
    const unmet = await unmetStep(store.transact(written));
    if (unmet !== null && unmet > 0) throw underWay('the action exceeds a limit of your account');
    if (unmet !== null) return null;
    committed();
    return run;
  });
};

const underWay = (reason: string): Boom.Boom =>
  Boom.conflict(`The recurring task cannot run now: ${reason}`, { code: 'run_under_way' });
