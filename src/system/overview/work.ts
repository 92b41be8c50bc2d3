import { sql } from 'kysely';
import type { Store } from '../../store/store.js';
import { visibleTo } from '../../store/visible.js';

export const workCounts = async (db: Store['db'], userId: string) => {
  const counts = [
    pipelineCounts(db, userId),
    recurringCounts(db, userId),
    mailboxCounts(db, userId),
  ] as const;
  const [pipelines, recurring, mailboxes] = await Promise.all(counts);
  return { pipelines, recurring, mailboxes };
};

const mailboxCounts = (db: Store['db'], userId: string) =>
  db
    .selectFrom('mail_accounts')
    .select((of) => of.fn.countAll<number>().as('total'))
    .select(sql<number>`count(CASE WHEN watch = 1 THEN 1 END)`.as('watched'))
    .select(sql<number>`count(CASE WHEN status <> 'ok' THEN 1 END)`.as('failing'))
    .where(visibleTo(userId))
    .executeTakeFirstOrThrow();

/** Unfinished runs, and their stages that wait for an answer. */
const pipelineCounts = async (db: Store['db'], userId: string) => {
  const open = db
    .selectFrom('pipeline_runs as r')
    .where(visibleTo(userId, 'r'))
    .where('r.status', 'in', ['queued', 'running', 'waiting']);
  const count = sql<number>`count(*)`.as('count');
  const [runs, stages] = await Promise.all([
    open.where('r.parent_id', 'is', null).select(count).executeTakeFirstOrThrow(),
    open
      .innerJoin('pipeline_stages as s', 's.run_id', 'r.id')
      .where('s.status', 'in', ['waiting_approval', 'waiting_input'])
      .select(count)
      .executeTakeFirstOrThrow(),
  ]);
  return { open: runs.count, waiting: stages.count };
};

const recurringCounts = (db: Store['db'], userId: string) =>
  db
    .selectFrom('recurring_tasks')
    .select((of) => of.fn.count<number>('next_run_at').as('enabled'))
    .select((of) => of.fn.min<string | null>('next_run_at').as('nextAt'))
    .where(visibleTo(userId))
    .executeTakeFirstOrThrow();
