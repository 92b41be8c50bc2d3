import type Database from 'better-sqlite3';

export const TASKS = 10_000;
const WORDS = 30;
/** The task of which one in thirty others is a part. */
const PARENT = 1;

const idOf = (digits: string, at: number): string => `task_${digits}${`${at}`.padStart(16, '0')}`;

/** Returns the views of the tasks that `fillTasks` makes, by what they show. */
export const taskViewsOf = (digits: string): Record<string, string> => ({
  tasks: '/api/tasks?limit=200',
  'tasks, next': '/api/tasks?view=next&limit=200',
  'tasks, overdue': '/api/tasks?due=overdue&limit=200',
  'tasks, due today': '/api/tasks?due=today&limit=200',
  'tasks, due this week': '/api/tasks?due=week&limit=200',
  'tasks, done': '/api/tasks?status=done&limit=200',
  'tasks, archived': '/api/tasks?status=archived&limit=200',
  'tasks, overdue and in progress': '/api/tasks?due=overdue&status=in_progress&limit=200',
  'tasks, next, with a tag': '/api/tasks?view=next&tag=tag7&limit=200',
  'tasks, parts of one': `/api/tasks?parentId=${idOf(digits, PARENT)}&limit=200`,
  'tasks, next, parts of one': `/api/tasks?view=next&parentId=${idOf(digits, PARENT)}&limit=200`,
  'tasks, with a rare word': '/api/tasks?q=number77&limit=200',
  'tasks, with a frequent word': '/api/tasks?q=word1&limit=200',
  'tasks, overdue, with a frequent word': '/api/tasks?due=overdue&q=word1%20word2&limit=200',
  'tasks, done, with a frequent word': '/api/tasks?status=done&q=word1&limit=200',
  'tasks, done and due this week': '/api/tasks?status=done&due=week&limit=200',
  'tasks, with a tag': '/api/tasks?tag=tag7&limit=200',
  'tasks, next, with a frequent word': '/api/tasks?view=next&q=word1&limit=200',
});

/**
 * Fills a database with tasks of one user around now: a third is done, some are under way or
 * archived, one in ten is blocked by the one before it, and each has a note, 30 words and a tag.
 */
export const fillTasks = (
  db: Database.Database,
  bound: { userId: string; digits: string; at: string },
): void => {
  const run = (count: number, sql: string): void => {
    const numbers = `WITH RECURSIVE n (x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n
      WHERE x < ${count - 1})`;
    const statement = db.prepare(`${numbers} ${sql}`);
    const named = Object.entries(bound).filter(([name]) => sql.includes(`@${name}`));
    statement.run(Object.fromEntries(named));
  };
  const id = (x = 'x') => `'task_' || @digits || printf('%016d', ${x})`;
  run(
    TASKS,
    `INSERT INTO tasks (id, user_id, title, notes, status, priority, due_at, timezone, follows_zone,
        ends_at, parent_id, tags, untrusted, source_kind, completed_at, created_at, updated_at)
      SELECT ${id()}, @userId, 'Number ' || x, 'A note. ' || hex(zeroblob(100)),
        iif(x % 3 = 0, 'done', iif(x % 15 = 1, 'in_progress', iif(x % 15 = 2, 'archived', 'open'))),
        x % 4, due, 'UTC', 1, due, iif(x % 30 = 4, ${id(`${PARENT}`)}, NULL),
        '["tag' || (x % 50) || '"]', 0, 'person', iif(x % 3 = 0, @at, NULL), @at, @at
      FROM (SELECT x, strftime('%Y-%m-%dT%H:%M:%fZ', @at, (x - ${TASKS / 2}) || ' minutes') AS due
        FROM n)`,
  );
  run(
    TASKS,
    `INSERT INTO task_tags (user_id, tag, task_id) SELECT @userId, 'tag' || (x % 50), ${id()} FROM n`,
  );
  run(
    TASKS / 10,
    `INSERT INTO task_blockers (user_id, task_id, blocker_id)
      SELECT @userId, ${id('x * 10 + 1')}, ${id('x * 10')} FROM n`,
  );
  run(
    TASKS * WORDS,
    `INSERT INTO task_words (user_id, word, task_id)
      SELECT @userId, iif(x % ${WORDS} = 0, 'number' || (x / ${WORDS}), 'word' || (x % ${WORDS})),
        ${id(`x / ${WORDS}`)} FROM n`,
  );
};
