import { iso } from '../kernel/clock.js';
import { type DueSource, settleEach } from '../schedule/module.js';
import { statement, unmetStep } from '../store/store.js';
import { type RecurringTaskRow, recurringTaskTable } from '../store/tables/recurringtasks.js';
import { rejectedStart } from './actions.js';
import { createBatch, type RunsDeps } from './begin.js';
import type { RecurringStore } from './queries.js';
import { type DuePlan, planDue } from './rules.js';

export interface DueDeps extends RunsDeps {
  rows: RecurringStore;
}

type DueRecurring = RecurringTaskRow & { next_run_at: string; suspended_at: string | null };

const MAX_READ = 500;
const AT_ONCE = 8;

/**
 * Firing a task and moving its due time are one transaction. It succeeds only if the due time is
 * unchanged since it was read, so that no due time fires twice or is lost. Due times of disabled
 * users pass without firing.
 */
export const createRecurringSource = (deps: DueDeps): DueSource => {
  const { store, clock } = deps;
  const due = store.db.selectFrom('recurring_tasks as r').where('r.next_run_at', 'is not', null);

  return {
    name: 'recurring tasks',
    nextAt: async () => {
      const next = await due
        .select('r.next_run_at')
        .orderBy('r.next_run_at')
        .limit(1)
        .executeTakeFirst();
      return next?.next_run_at ?? null;
    },
    tick: async () => {
      const rows = await due
        .innerJoin('users as u', 'u.id', 'r.user_id')
        .select(recurringTaskTable.columns.map((column) => `r.${column}` as const))
        .select('u.disabled_at as suspended_at')
        .where('r.next_run_at', '<=', iso(clock.now()))
        .orderBy('r.next_run_at')
        .limit(MAX_READ)
        .execute();
      const settle = async ({ next_run_at, ...row }: (typeof rows)[number]): Promise<void> => {
        if (next_run_at !== null) await fire(deps, { ...row, next_run_at });
      };
      await settleEach(rows, settle, AT_ONCE);
    },
  };
};

const fire = async (deps: DueDeps, task: DueRecurring, start = deps.start): Promise<void> => {
  const { store, clock, rows } = deps;
  const plan = await planDue(task, clock.now());
  const open = await rows.open(task.id);
  const batch = createBatch(deps, task, { ...open, start });
  if (task.suspended_at === null) await addRuns(batch, task, plan);
  const { steps, last, counted, committed } = batch.changes();
  const runCount = task.run_count + counted;
  const isOver = plan.nextAt === null || (task.max_runs !== null && runCount >= task.max_runs);
  const moved = store.db
    .updateTable('recurring_tasks')
    .set({
      ...last,
      next_run_at: isOver ? null : plan.nextAt,
      enabled: isOver ? 0 : 1,
      last_due_at: plan.lastDueAt,
      run_count: runCount,
    })
    .where('id', '=', task.id)
    .where('enabled', '=', 1)
    .where('next_run_at', '=', task.next_run_at)
    .where('updated_at', '=', task.updated_at);
  const guards = [statement(moved, 1), rows.onlyWhile(task.id, open)];
  const unmet = await unmetStep(store.transact([...guards, ...steps]));
  if (unmet === null) return committed();
  // A failed step of the action is the outcome of the run.
  if (unmet >= guards.length) await fire(deps, task, rejectedStart);
};

const addRuns = async (
  batch: ReturnType<typeof createBatch>,
  task: DueRecurring,
  plan: DuePlan,
): Promise<void> => {
  const { run, isMore, lastDueAt } = plan;
  const left = task.max_runs === null ? run.length : Math.max(0, task.max_runs - task.run_count);
  let skipped = plan.skipped;
  for (const dueAt of run) {
    if (batch.changes().counted < left) await batch.add(dueAt);
    else skipped++;
  }
  if (skipped === 0) return;
  const count = `${isMore ? 'more than ' : ''}${skipped}`;
  batch.skip(lastDueAt, `${count} due ${skipped === 1 ? 'time was' : 'times were'} missed`);
};
