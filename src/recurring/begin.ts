import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { pageLink } from '../kernel/pagepath.js';
import type { Notice, Outbox } from '../outbound/module.js';
import type { Hub } from '../realtime/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { insertRow, updateRows } from '../store/rows.js';
import { type Store, statement } from '../store/store.js';
import {
  type RecurringRunRow,
  type RecurringTaskRow,
  recurringRunTable,
} from '../store/tables/recurringtasks.js';
import type { StartRun } from './actions.js';
import type { OpenRuns } from './queries.js';
import { viewRun } from './view.js';

export interface RunsDeps {
  store: Store;
  clock: Clock;
  hub: Hub;
  outbox: Outbox;
  start: StartRun;
}

const MAX_QUEUED = 10;
const UNDER_WAY = 'the previous run is still active';
const QUEUE_FULL = `${MAX_QUEUED} runs are already waiting`;

/** Changes that are committed together, and a callback after the commit. */
export interface BatchChanges {
  steps: TransactionStep[];
  committed(): void;
  last: Partial<RecurringTaskRow>;
  run: RecurringRunRow | null;
  /** Number of runs that were not skipped. */
  counted: number;
}

/**
 * Collects the runs of a recurring task for one transaction. By the overlap policy, each run starts
 * at once, waits or is skipped.
 */
export const createBatch = (
  deps: RunsDeps,
  task: RecurringTaskRow,
  { start = deps.start, ...open }: OpenRuns & { start?: StartRun },
) => {
  const { store, clock, hub } = deps;
  const { user_id: userId } = task;
  const steps: TransactionStep[] = [];
  const afterwards: (() => void)[] = [];
  let { running, queued } = open;
  let last: Partial<RecurringTaskRow> = {};
  let run: RecurringRunRow | null = null;
  let counted = 0;
  let failing = task.failing;

  const publish = (row: RecurringRunRow): void => {
    afterwards.push(() => hub.publish(userId, 'recurring.run', viewRun(row)));
  };

  /** Only the first failure in a series is reported to the owner. */
  const record = (row: RecurringRunRow): void => {
    const { status, error, started_at, finished_at } = row;
    run = row;
    publish(row);
    if (status === 'queued' || status === 'skipped') return;
    last = { last_status: status, last_error: error, last_run_at: started_at ?? finished_at };
    if (status === 'success') failing = 0;
    if (status === 'error' && failing === 0) {
      failing = 1;
      const { posting, published } = deps.outbox.noticeOf(userId, failure(task, error), true);
      steps.push({ procedure: 'postNotice', input: posting });
      afterwards.push(published);
    }
    last.failing = failing;
  };

  const insert = (row: RecurringRunRow, also: TransactionStep[] = []): void => {
    steps.push(insertRow(recurringRunTable, row), ...also);
    record(row);
  };

  const begin = async (row: RecurringRunRow, isNew: boolean): Promise<void> => {
    const started = await start(task);
    const startedRun = { ...row, ...started.run };
    if (startedRun.status === 'running') running++;
    afterwards.push(started.committed);
    if (isNew) return insert(startedRun, started.steps);
    const waiting = updateRows(store.db, recurringRunTable, { id: row.id, status: 'queued' });
    steps.push(statement(waiting.set(startedRun), 1), ...started.steps);
    record(startedRun);
  };

  const skip = (dueAt: string | null, reason: string): void => {
    const finished_at = iso(clock.now());
    insert({ ...newRun(task, clock.now(), dueAt), status: 'skipped', reason, finished_at });
  };

  return {
    /** `null` for a manual run. */
    add: async (dueAt: string | null): Promise<void> => {
      const row = newRun(task, clock.now(), dueAt);
      if (running + queued === 0) {
        counted++;
        await begin(row, true);
      } else if (task.overlap === 'skip' || queued >= MAX_QUEUED) {
        skip(dueAt, task.overlap === 'skip' ? UNDER_WAY : QUEUE_FULL);
      } else {
        counted++;
        queued++;
        insert({ ...row, reason: UNDER_WAY });
      }
    },
    skip,
    resume: (row: RecurringRunRow): Promise<void> => begin(row, false),
    end: (row: RecurringRunRow): void => {
      const under = updateRows(store.db, recurringRunTable, { id: row.id, status: 'running' });
      const { status, error, finished_at } = row;
      steps.push(statement(under.set({ status, error, finished_at }), 1));
      record(row);
    },
    changes: (): BatchChanges => ({
      steps,
      last,
      run,
      counted,
      committed: () => {
        for (const call of afterwards) call();
      },
    }),
  };
};

const newRun = (
  { id, user_id }: RecurringTaskRow,
  now: number,
  dueAt: string | null,
): RecurringRunRow => ({
  id: mint('recurringrun', now),
  recurring_task_id: id,
  user_id,
  due_at: dueAt,
  status: 'queued',
  reason: null,
  error: null,
  agent_id: null,
  task_id: null,
  execution_id: null,
  notification_id: null,
  pipeline_id: null,
  started_at: null,
  finished_at: null,
});

const failure = ({ id, title }: RecurringTaskRow, error: string | null): Notice => ({
  kind: 'recurring_failed',
  title: `${title}: failed`,
  body: error ?? 'The run failed',
  link: pageLink('recurringTask', id),
  about: title,
});
