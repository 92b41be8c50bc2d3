-- What a person has to do.
CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  notes TEXT,
  status TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'done', 'archived')),
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
  -- A day, as 2026-01-31, or a time: at most one of both.
  due TEXT,
  due_at TEXT,
  timezone TEXT NOT NULL,
  -- 1: the timezone is that of the preferences of its owner, and follows it.
  follows_zone INTEGER NOT NULL CHECK (follows_zone IN (0, 1)),
  -- The last moment of the day that it is due, or the time: after it the task is overdue.
  ends_at TEXT,
  reminder_minutes INTEGER CHECK (reminder_minutes BETWEEN 0 AND 40320),
  -- When its owner is reminded next. NULL: not again.
  remind_at TEXT,
  tags TEXT NOT NULL,
  -- A cascade would end at 1,000 levels, also where an account is deleted.
  parent_id TEXT REFERENCES tasks (id) ON DELETE SET NULL,
  -- The agent that it was delegated to. NULL: it is its owner's.
  agent_id TEXT REFERENCES agents (id) ON DELETE SET NULL,
  -- 1: an untrusted agent made or changed it, and its owner has not edited it since.
  untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
  source_kind TEXT NOT NULL CHECK (source_kind IN ('person', 'agent', 'execution', 'recurring')),
  source_id TEXT,
  recurring_task_id TEXT,
  -- The effect of a call of a tool that made it, the same in all retries.
  effect_id TEXT,
  completed_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  CHECK (due IS NULL OR due_at IS NULL),
  CHECK ((ends_at IS NULL) = (due IS NULL AND due_at IS NULL)),
  CHECK (remind_at IS NULL OR (due_at IS NOT NULL AND status IN ('open', 'in_progress'))),
  CHECK (status = 'archived' OR (status = 'done') = (completed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_by_user ON tasks (user_id, id);
CREATE INDEX tasks_by_status ON tasks (user_id, status, id);
-- By due, then the most urgent first: the order of what is next, and of what is due.
CREATE INDEX tasks_next
  ON tasks (user_id, (coalesce(ends_at, '~') || ' ' || (3 - priority) || ' ' || id))
  WHERE status IN ('open', 'in_progress');
CREATE INDEX tasks_by_due
  ON tasks (user_id, (coalesce(ends_at, '~') || ' ' || (3 - priority) || ' ' || id))
  WHERE ends_at IS NOT NULL;
CREATE INDEX tasks_untrusted ON tasks (user_id, id)
  WHERE untrusted = 1 AND status IN ('open', 'in_progress');
CREATE INDEX tasks_by_zone ON tasks (user_id, timezone, due) WHERE follows_zone = 1;
CREATE INDEX tasks_by_parent ON tasks (parent_id, id);
CREATE INDEX tasks_by_agent ON tasks (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX tasks_by_recurring ON tasks (recurring_task_id, id) WHERE recurring_task_id IS NOT NULL;
CREATE UNIQUE INDEX tasks_by_effect ON tasks (user_id, effect_id) WHERE effect_id IS NOT NULL;
CREATE INDEX tasks_by_reminder ON tasks (remind_at) WHERE remind_at IS NOT NULL;

CREATE TABLE task_blockers (
  user_id TEXT NOT NULL,
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  blocker_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  PRIMARY KEY (task_id, blocker_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_blockers_by_blocker ON task_blockers (blocker_id, task_id);

CREATE TABLE task_tags (
  user_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, tag, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_tags_by_task ON task_tags (task_id);

-- The words by which tasks are found: an inverted index, with the owner in the key.
CREATE TABLE task_words (
  user_id TEXT NOT NULL,
  word TEXT NOT NULL,
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, word, task_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_words_by_task ON task_words (task_id);

-- The address at which calendars read the tasks of a person; of its token the SHA-256 alone.
CREATE TABLE task_feeds (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The time before a task is due at which its owner is reminded. NULL: no reminder by default.
ALTER TABLE notification_settings ADD COLUMN reminder_minutes INTEGER DEFAULT 15
  CHECK (reminder_minutes BETWEEN 0 AND 40320);
