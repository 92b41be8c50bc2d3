-- E-mails are processed, each once, and hooks can be started by them. The table of hooks is replaced by a
-- copy, since SQLite cannot change a constraint without a name; what refers to its rows stays.
CREATE TABLE hooks_copy (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  trigger TEXT NOT NULL CHECK (trigger IN
    ('webhook', 'schedule', 'agent_completed', 'agent_failed', 'approval_requested', 'email')),
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
CREATE TRIGGER hooks_counted AFTER UPDATE OF executions ON hooks WHEN NEW.executions > OLD.executions
BEGIN
  INSERT INTO execution_minutes (user_id, minute, count)
    SELECT NEW.user_id, substr(created_at, 1, 16), NEW.executions - OLD.executions
      FROM executions WHERE hook_id = NEW.id ORDER BY id DESC LIMIT 1
    ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;

-- What arrived before this time is not new: that of the account's making, or of switching the watch on.
ALTER TABLE mail_accounts ADD COLUMN new_from TEXT NOT NULL DEFAULT '';
UPDATE mail_accounts SET new_from = strftime('%Y-%m-%dT%H:%M:%fZ', 'now');

-- By what a message is known wherever it lies: its Message-ID, or a digest of its header.
ALTER TABLE mail_messages ADD COLUMN identity TEXT NOT NULL DEFAULT '';
UPDATE mail_messages SET identity = iif(message_id IS NULL, 'mail:' || id, 'id:' || message_id);
-- The number of times that its cause has come back to this daemon, as its header says.
ALTER TABLE mail_messages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
-- The arrival as the server states it, in milliseconds; NULL: not known.
ALTER TABLE mail_messages ADD COLUMN arrived_ms INTEGER;
ALTER TABLE mail_messages ADD COLUMN processed_at TEXT;
CREATE INDEX mail_messages_unprocessed ON mail_messages (account_id, folder, id)
  WHERE processed_at IS NULL;

-- What was processed, also if it has moved or is gone at the server.
CREATE TABLE mail_processed (
  account_id TEXT NOT NULL REFERENCES mail_accounts (id) ON DELETE CASCADE,
  identity TEXT NOT NULL,
  folder TEXT NOT NULL,
  size INTEGER NOT NULL,
  processed_at TEXT NOT NULL,
  PRIMARY KEY (account_id, identity, folder, size)
) STRICT, WITHOUT ROWID;
