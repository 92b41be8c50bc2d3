
    CREATE TABLE hooks (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      description TEXT,
      trigger TEXT NOT NULL CHECK (trigger IN
        ('webhook', 'schedule', 'agent_completed', 'agent_failed', 'approval_requested')),
      trigger_config TEXT NOT NULL,
      action TEXT NOT NULL CHECK (action IN ('spawn_agent', 'notify', 'webhook', 'execute_tool')),
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
      updated_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX hooks_by_user ON hooks (user_id, id);

    CREATE TABLE deliveries (
      id TEXT PRIMARY KEY,
      path TEXT NOT NULL,
      method TEXT NOT NULL,
      headers TEXT NOT NULL,
      body TEXT NOT NULL,
      event TEXT,
      sender_id TEXT,
      received_at TEXT NOT NULL
    ) STRICT;

    CREATE TABLE executions (
      id TEXT PRIMARY KEY,
      hook_id TEXT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
      user_id TEXT NOT NULL,
      delivery_id TEXT,
      trigger TEXT NOT NULL,
      action TEXT NOT NULL,
      context TEXT,
      status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'success', 'error', 'skipped', 'interrupted')),
      effect TEXT NOT NULL DEFAULT 'none' CHECK (effect IN ('none', 'begun', 'done')),
      result TEXT,
      error TEXT,
      attempts INTEGER NOT NULL DEFAULT 0,
      agent_id TEXT,
      replay_of TEXT,
      created_at TEXT NOT NULL,
      started_at TEXT,
      finished_at TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX executions_by_hook ON executions (hook_id, id);
    CREATE INDEX executions_by_delivery ON executions (delivery_id) WHERE replay_of IS NOT NULL;

    CREATE TABLE delivery_claims (
      hook_id TEXT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
      sender_id TEXT NOT NULL,
      body_digest TEXT NOT NULL,
      execution_id TEXT NOT NULL,
      delivery_id TEXT NOT NULL,
      claimed_at TEXT NOT NULL,
      PRIMARY KEY (hook_id, sender_id, body_digest)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX delivery_claims_by_age ON delivery_claims (claimed_at);
