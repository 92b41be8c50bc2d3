import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

export const taskTable = table('tasks', {
  id: text,
  user_id: text,
  title: text,
  notes: orNull(text),
  status: literal<'open' | 'in_progress' | 'done' | 'archived'>(),
  /** 0 to 3. 3 is the most urgent. */
  priority: number,
  /** `2026-01-31`. At most one of `due` and `due_at` is set. */
  due: orNull(text),
  due_at: orNull(text),
  timezone: text,
  /** 1 if the time zone follows the preferences of the owner. */
  follows_zone: flag,
  /** Last moment of the due day, or the due time. */
  ends_at: orNull(text),
  reminder_minutes: orNull(number),
  remind_at: orNull(text),
  tags: json<string[]>(),
  parent_id: orNull(text),
  agent_id: orNull(text),
  /** 1 if an untrusted agent wrote it, and the owner has not edited it since. */
  untrusted: flag,
  source_kind: literal<'person' | 'agent' | 'execution' | 'recurring'>(),
  source_id: orNull(text),
  recurring_task_id: orNull(text),
  effect_id: orNull(text),
  completed_at: orNull(text),
  created_at: text,
  updated_at: text,
});
export type TaskRow = Row<typeof taskTable>;

export const taskBlockerTable = table('task_blockers', {
  user_id: text,
  task_id: text,
  blocker_id: text,
});

export const taskTagTable = table('task_tags', { user_id: text, tag: text, task_id: text });

export const taskWordTable = table('task_words', { user_id: text, word: text, task_id: text });

/** Calendar feed addresses. Only the SHA-256 of the token is stored. */
export const taskFeedTable = table('task_feeds', {
  user_id: text,
  token_hash: text,
  created_at: text,
});
export type TaskFeedRow = Row<typeof taskFeedTable>;
