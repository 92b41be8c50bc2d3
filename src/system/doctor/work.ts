import { sql } from 'kysely';
import { iso } from '../../kernel/clock.js';
import type { Store } from '../../store/store.js';
import type { Finding } from './contract.js';
import { failedFinding, warnFinding } from './rules.js';

const MINUTE_MS = 60_000;
/** Ours: the time by which recurring tasks and pipelines may be late. */
const LATE_MS = 5 * MINUTE_MS;
/** Ours: the time that a stage may wait for its owner before the doctor says so. */
const UNANSWERED_MS = 24 * 60 * MINUTE_MS;
/** Ours: the rows that a finding names. */
const SHOWN = 5;

/** A row that a finding names. Others than its owner see no title of it, not even admins. */
interface OwnedWork {
  id: string;
  owner: string;
}

/**
 * Checks the recurring tasks and the pipelines of all users: those that fail, those that stand still,
 * and those that wait for an answer.
 */
export const checkWork = async ({ db }: Pick<Store, 'db'>, now: number): Promise<Finding[]> => {
  const tasks = db
    .selectFrom('recurring_tasks as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['t.id', 'u.username as owner'])
    .limit(SHOWN + 1);
  const runs = db
    .selectFrom('pipeline_runs as r')
    .innerJoin('pipeline_stages as s', 's.run_id', 'r.id')
    .innerJoin('users as u', 'u.id', 'r.user_id')
    .select(['r.id', 'u.username as owner'])
    .distinct()
    .where('r.finished_at', 'is', null)
    .limit(SHOWN + 1);
  const lateAt = iso(now - LATE_MS);
  const [failing, late, stuck, unanswered] = await Promise.all([
    // The first condition is that of the index, literally; the second has it searched.
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
        `the last run failed of ${named}`,
        'adjutant recurring list   why, as its owner: adjutant recurring runs <id>',
      ),
    ),
    ...found(late, (named) =>
      failedFinding('recurring', `due for over five minutes, and not fired: ${named}`, STANDS),
    ),
    ...found(stuck, (named) =>
      failedFinding('pipelines', `due for over five minutes, and not gone on: ${named}`, STANDS),
    ),
    ...found(unanswered, (named) =>
      warnFinding(
        'pipelines',
        `waiting for their owners for over a day: ${named}`,
        'adjutant pipelines list --status waiting   as its owner: adjutant pipelines get <id>',
      ),
    ),
  ];
};

const STANDS = 'adjutant logs --last 50, then: adjutant restart';

const found = (rows: OwnedWork[], finding: (named: string) => Finding): Finding[] => {
  if (rows.length === 0) return [];
  const named = rows.slice(0, SHOWN).map(({ id, owner }) => `${id} (${owner})`);
  return [finding(`${named.join(', ')}${rows.length > SHOWN ? ' and more' : ''}`)];
};
