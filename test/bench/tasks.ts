import type Database from 'better-sqlite3';

export const TASKS = 10_000;
const WORDS = 30;

/** The views of tasks, by what they show. */
export const taskViews: Record<string, string> = {
  tasks: '/api/tasks?limit=200',
  'tasks, next': '/api/tasks?view=next&limit=200',
  'tasks, overdue': '/api/tasks?due=overdue&limit=200',
  'tasks, due today': '/api/tasks?due=today&limit=200',
  'tasks, due this week': '/api/tasks?due=week&limit=200',
  'tasks, done': '/api/tasks?status=done&limit=200',
  'tasks, done and due this week': '/api/tasks?status=done&due=week&limit=200',
  'tasks, with a tag': '/api/tasks?tag=tag7&limit=200',
  'tasks, next, with a frequent word': '/api/tasks?view=next&q=word1&limit=200',
};

/**
 * Fills a database with tasks of one user around now: a third is done, one in ten is blocked by
 * the one before it, and each has 30 words and a tag.
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
    `INSERT INTO tasks (id, user_id, title, status, priority, due_at, timezone, follows_zone, ends_at,
        tags, untrusted, source_kind, completed_at, created_at, updated_at)
      SELECT ${id()}, @userId, 'Number ' || x, iif(x % 3 = 0, 'done', 'open'), x % 4, due, 'UTC', 1,
        due, '["tag' || (x % 50) || '"]', 0, 'person', iif(x % 3 = 0, @at, NULL), @at, @at
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
