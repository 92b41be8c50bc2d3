import { sql } from 'kysely';
import { iso } from '../../kernel/clock.js';
import type { Store } from '../../store/store.js';
import type { Finding } from './contract.js';
import { failedFinding, warnFinding } from './rules.js';

const MINUTE_MS = 60_000;
/** Recurring tasks and pipelines that are later than this are reported. */
const LATE_MS = 5 * MINUTE_MS;
/** Stages that wait longer for their owner are reported. */
const UNANSWERED_MS = 24 * 60 * MINUTE_MS;
const MAX_NAMED = 5;

/** Without the title, which nobody but the owner may see, not even admins. */
interface OwnedWork {
  id: string;
  owner: string;
}

export const checkWork = async ({ db }: Pick<Store, 'db'>, now: number): Promise<Finding[]> => {
  const tasks = db
    .selectFrom('recurring_tasks as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['t.id', 'u.username as owner'])
    .limit(MAX_NAMED + 1);
  const runs = db
    .selectFrom('pipeline_runs as r')
    .innerJoin('pipeline_stages as s', 's.run_id', 'r.id')
    .innerJoin('users as u', 'u.id', 'r.user_id')
    .select(['r.id', 'u.username as owner'])
    .distinct()
    .where('r.finished_at', 'is', null)
    .limit(MAX_NAMED + 1);
  const lateAt = iso(now - LATE_MS);
  const [failing, late, stuck, unanswered] = await Promise.all([
    // The first condition is literally that of the index; the second makes SQLite search it.
    tasks.where(sql<boolean>`t.failing = 1`).where('t.user_id', '>', '').execute(),
    tasks.where('t.next_run_at', '<', lateAt).execute(),
    runs
      .where((of) => of.or([of('s.due_at', '<', lateAt), of('r.deadline_at', '<', lateAt)]))
      .execute(),
    runs
      .where('s.status', 'in', ['waiting_approval', 'waiting_input'])
      .where('s.started_at', '<', iso(now - UNANSWERED_MS))
      .execute(),
  ]);
  return [
    ...found(failing, (named) =>
      warnFinding(
        'recurring',
        `the last run failed: ${named}`,
        'adjutant recurring list   For the reason, as its owner: adjutant recurring runs <id>',
      ),
    ),
    ...found(late, (named) =>
      failedFinding('recurring', `overdue by more than five minutes: ${named}`, STANDS),
    ),
    ...found(stuck, (named) =>
      failedFinding('pipelines', `stuck for more than five minutes: ${named}`, STANDS),
    ),
    ...found(unanswered, (named) =>
      warnFinding(
        'pipelines',
        `waiting for their owners for more than a day: ${named}`,
        'adjutant pipelines list --status waiting   As its owner: adjutant pipelines get <id>',
      ),
    ),
  ];
};

const STANDS = 'adjutant logs --last 50, then: adjutant restart';

const found = (rows: OwnedWork[], finding: (named: string) => Finding): Finding[] => {
  if (rows.length === 0) return [];
  const named = rows.slice(0, MAX_NAMED).map(({ id, owner }) => `${id} (${owner})`);
  return [finding(`${named.join(', ')}${rows.length > MAX_NAMED ? ' and more' : ''}`)];
};
