-- Hooks can start pipelines. The table is replaced by a copy, since SQLite cannot change a constraint
-- without a name; what refers to its rows stays. A run knows how often its cause came back to this daemon.
CREATE TABLE hooks_copy (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  trigger TEXT NOT NULL CHECK (trigger IN
    ('webhook', 'schedule', 'agent_completed', 'agent_failed', 'approval_requested')),
  trigger_config TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN
    ('spawn_agent', 'notify', 'webhook', 'execute_tool', 'start_pipeline')),
  action_config TEXT NOT NULL,
  webhook_path TEXT,
  secret_sealed TEXT,
  old_secret_sealed TEXT,
  old_secret_until TEXT,
  old_secret_last_used_at TEXT,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  conditions TEXT NOT NULL,
  concurrency INTEGER,
  cooldown_ms INTEGER NOT NULL DEFAULT 0,
  max_executions INTEGER,
  limits TEXT,
  executions INTEGER NOT NULL DEFAULT 0,
  runs INTEGER NOT NULL DEFAULT 0,
  last_run_at TEXT,
  next_run_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  credential_id TEXT
) STRICT;
INSERT INTO hooks_copy (id, user_id, name, description, trigger, trigger_config, action, action_config,
  webhook_path, secret_sealed, old_secret_sealed, old_secret_until, old_secret_last_used_at, enabled,
  conditions, concurrency, cooldown_ms, max_executions, limits, executions, runs, last_run_at,
  next_run_at, created_at, updated_at, credential_id)
SELECT id, user_id, name, description, trigger, trigger_config, action, action_config,
  webhook_path, secret_sealed, old_secret_sealed, old_secret_until, old_secret_last_used_at, enabled,
  conditions, concurrency, cooldown_ms, max_executions, limits, executions, runs, last_run_at,
  next_run_at, created_at, updated_at, credential_id
FROM hooks;
DROP TABLE hooks;
ALTER TABLE hooks_copy RENAME TO hooks;
CREATE INDEX hooks_by_user ON hooks (user_id, id);
CREATE INDEX hooks_by_credential ON hooks (credential_id) WHERE credential_id IS NOT NULL;
CREATE TRIGGER approval_grants_of_hook AFTER DELETE ON hooks BEGIN
  DELETE FROM approval_grants WHERE hook_id = OLD.id;
END;

ALTER TABLE pipeline_runs ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
