import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

/** The tasks of people. */
export const taskTable = table('tasks', {
  id: text,
  user_id: text,
  title: text,
  notes: orNull(text),
  status: literal<'open' | 'in_progress' | 'done' | 'archived'>(),
  /** 0 to 3, the most urgent. */
  priority: number,
  /** A day, as `2026-01-31`. At most one of `due` and `due_at` is set. */
  due: orNull(text),
  due_at: orNull(text),
  timezone: text,
  /** 1: the timezone is that of its owner's preferences, and follows it. */
  follows_zone: flag,
  /** The last moment of the day that it is due, or the time: after it the task is overdue. */
  ends_at: orNull(text),
  reminder_minutes: orNull(number),
  /** The time of the next reminder of its owner. */
  remind_at: orNull(text),
  tags: json<string[]>(),
  parent_id: orNull(text),
  /** The agent that it was delegated to. */
  agent_id: orNull(text),
  /** 1: an untrusted agent made or changed it, and its owner has not edited it since. */
  untrusted: flag,
  source_kind: literal<'person' | 'agent' | 'execution' | 'recurring'>(),
  source_id: orNull(text),
  recurring_task_id: orNull(text),
  /** The effect of a call of a tool that made it, the same in all retries. */
  effect_id: orNull(text),
  completed_at: orNull(text),
  created_at: text,
  updated_at: text,
});
export type TaskRow = Row<typeof taskTable>;

/** The tasks that must be done before another one. */
export const taskBlockerTable = table('task_blockers', {
  user_id: text,
  task_id: text,
  blocker_id: text,
});

export const taskTagTable = table('task_tags', { user_id: text, tag: text, task_id: text });

/** The words by which tasks are found. */
export const taskWordTable = table('task_words', { user_id: text, word: text, task_id: text });

/** The addresses at which calendars read tasks; of their tokens the SHA-256 alone. */
export const taskFeedTable = table('task_feeds', {
  user_id: text,
  token_hash: text,
  created_at: text,
});
export type TaskFeedRow = Row<typeof taskFeedTable>;
