-- Recurring tasks: what is done at the times of a cron expression or a recurrence rule.
CREATE TABLE recurring_tasks (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  -- JSON: the cron expression or the rule, and the time zone.
  schedule TEXT NOT NULL,
  -- The start of a rule without a start of its own.
  starts_at TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN
    ('create_task', 'spawn_agent', 'start_pipeline', 'run_hook', 'notify')),
  action_config TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  missed TEXT NOT NULL CHECK (missed IN ('skip', 'once', 'all')),
  overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue')),
  next_run_at TEXT CHECK ((next_run_at IS NOT NULL) = (enabled = 1)),
  -- The last due time that has passed: none before it is due again.
  last_due_at TEXT,
  last_run_at TEXT,
  last_status TEXT CHECK (last_status IN ('queued', 'running', 'success', 'error', 'skipped')),
  last_error TEXT,
  -- The runs at due times, which max_runs limits.
  run_count INTEGER NOT NULL DEFAULT 0,
  -- 1: the last run failed, and the owner was notified of it.
  failing INTEGER NOT NULL DEFAULT 0 CHECK (failing IN (0, 1)),
  ends_at TEXT,
  max_runs INTEGER,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX recurring_tasks_by_user ON recurring_tasks (user_id, id);
CREATE INDEX recurring_tasks_due ON recurring_tasks (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX recurring_tasks_failing ON recurring_tasks (user_id, id) WHERE failing = 1;

CREATE TABLE recurring_runs (
  id TEXT PRIMARY KEY,
  recurring_task_id TEXT NOT NULL REFERENCES recurring_tasks (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  -- NULL: it was run by hand.
  due_at TEXT,
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'success', 'error', 'skipped')),
  reason TEXT,
  error TEXT,
  agent_id TEXT,
  task_id TEXT,
  execution_id TEXT,
  notification_id TEXT,
  started_at TEXT,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX recurring_runs_by_task ON recurring_runs (recurring_task_id, id);
CREATE INDEX recurring_runs_by_status ON recurring_runs (status, id)
  WHERE status IN ('queued', 'running');
CREATE INDEX recurring_runs_open ON recurring_runs (recurring_task_id, status)
  WHERE status IN ('queued', 'running');
