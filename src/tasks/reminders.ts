import { type Clock, iso } from '../kernel/clock.js';
import { pageLink } from '../kernel/pagepath.js';
import { clockTime } from '../kernel/zonetime.js';
import type { Notice, Outbound } from '../outbound/module.js';
import { type DueSource, settleEach } from '../schedule/module.js';
import { isCommitted, type Store, statement } from '../store/store.js';
import type { TaskRow } from '../store/tables/tasks.js';
import { visibleTo } from '../store/visible.js';

export interface TaskRemindersDeps {
  store: Store;
  clock: Clock;
  outbox: Pick<Outbound['outbox'], 'toOwner'>;
}

const BATCH = 500;
/** Reminders that are later than one hour are combined into one notification per user. */
const LATE_MS = 3600 * 1000;
const MAX_NAMED = 20;

type RemindedTask = Pick<TaskRow, 'id' | 'user_id' | 'title' | 'due_at' | 'timezone' | 'remind_at'>;

/**
 * A reminder is cleared in the same transaction that stores its notification, so that it is sent
 * exactly once.
 */
export const createTaskReminders = (deps: TaskRemindersDeps): DueSource => {
  const { store, clock } = deps;

  const tick = async (): Promise<void> => {
    const rows = await dueReminders(deps);
    const before = iso(clock.now() - LATE_MS);
    const isLate = ({ remind_at }: RemindedTask): boolean => (remind_at ?? '') < before;
    const late = rows.filter(isLate);
    const owners = new Set(late.map(({ user_id }) => user_id));
    const gathered = [...owners].map((id) => late.filter(({ user_id }) => user_id === id));
    const groups = [...rows.filter((row) => !isLate(row)).map((row) => [row]), ...gathered];
    await settleEach(groups, (group) => remind(deps, group));
  };

  const nextAt = async (): Promise<string | null> => {
    const next = store.db
      .selectFrom('tasks')
      .select('remind_at')
      .where('remind_at', 'is not', null)
      .orderBy('remind_at')
      .limit(1);
    return (await next.executeTakeFirst())?.remind_at ?? null;
  };

  return { name: 'reminders of tasks', nextAt, tick };
};

const dueReminders = ({ store, clock }: TaskRemindersDeps): Promise<RemindedTask[]> =>
  store.db
    .selectFrom('tasks')
    .select(['id', 'user_id', 'title', 'due_at', 'timezone', 'remind_at'])
    .where('remind_at', '<=', iso(clock.now()))
    .orderBy('remind_at')
    .limit(BATCH)
    .execute();

/** Skips tasks that were changed or reminded in the meantime. */
const remind = async (
  { store, outbox }: TaskRemindersDeps,
  rows: RemindedTask[],
): Promise<void> => {
  const [first, ...others] = rows;
  if (!first) return;
  const clearReminders = rows.map(({ id, user_id, remind_at }) =>
    statement(
      store.db
        .updateTable('tasks')
        .set({ remind_at: null })
        .where(visibleTo(user_id))
        .where('id', '=', id)
        .where('remind_at', '=', remind_at),
      1,
    ),
  );
  const notice = others.length === 0 ? buildReminderNotice(first) : lateNotice(rows);
  const posting = outbox.toOwner(first.user_id, notice);
  const isGiven = await isCommitted(store.transact([...clearReminders, ...posting.statements]));
  if (isGiven) posting.published();
};

const buildReminderNotice = (row: RemindedTask): Notice => ({
  kind: 'task_reminder',
  title: row.title,
  body: `Due ${dueText(row)}\nComplete it: adjutant tasks complete ${row.id.slice(-6)}`,
  link: pageLink('task', row.id),
  about: row.title,
});

const lateNotice = (rows: RemindedTask[]): Notice => {
  const named = rows
    .slice(0, MAX_NAMED)
    .map((row) => `${row.title.slice(0, 100)}: ${dueText(row)}`);
  const rest = rows.length - named.length;
  return {
    kind: 'task_reminder',
    title: `${rows.length} overdue task reminders`,
    body: [...named, ...(rest > 0 ? [`… ${rest} more`] : [])].join('\n'),
    link: `${pageLink('tasks')}?due=overdue`,
  };
};

const dueText = ({ due_at, timezone }: RemindedTask): string =>
  `${clockTime(timezone, Date.parse(due_at ?? ''))} (${timezone})`;
