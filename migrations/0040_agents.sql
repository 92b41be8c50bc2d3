
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      title TEXT NOT NULL,
      channel TEXT NOT NULL,
      message_count INTEGER NOT NULL DEFAULT 0,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_user ON sessions (user_id, id);

    CREATE TABLE messages (
      id TEXT PRIMARY KEY,
      session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      seq INTEGER NOT NULL,
      role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
      content TEXT NOT NULL,
      tool_calls TEXT,
      tool_call_id TEXT,
      agent_id TEXT,
      created_at TEXT NOT NULL,
      UNIQUE (session_id, seq)
    ) STRICT;

    CREATE TABLE agents (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      topic TEXT,
      role TEXT,
      model TEXT NOT NULL,
      prompt TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'waiting_approval', 'paused', 'completed', 'failed', 'stopped')),
      untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
      parent_id TEXT,
      session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      hook_id TEXT,
      execution_id TEXT,
      notify_owner INTEGER NOT NULL DEFAULT 0 CHECK (notify_owner IN (0, 1)),
      orchestrated INTEGER NOT NULL DEFAULT 0 CHECK (orchestrated IN (0, 1)),
      tools TEXT,
      limits TEXT NOT NULL,
      lane TEXT NOT NULL,
      steps INTEGER NOT NULL DEFAULT 0,
      input_tokens INTEGER NOT NULL DEFAULT 0,
      output_tokens INTEGER NOT NULL DEFAULT 0,
      cost_usd REAL NOT NULL DEFAULT 0,
      active_ms INTEGER NOT NULL DEFAULT 0,
      result TEXT,
      error TEXT,
      created_at TEXT NOT NULL,
      started_at TEXT,
      finished_at TEXT
    ) STRICT;
    CREATE INDEX agents_by_user ON agents (user_id, id);
    CREATE INDEX agents_by_session ON agents (session_id, id);
    CREATE INDEX agents_by_execution ON agents (execution_id) WHERE execution_id IS NOT NULL;

    CREATE TABLE agent_events (
      agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
      seq INTEGER NOT NULL,
      type TEXT NOT NULL CHECK (type IN ('agent.status', 'agent.message', 'agent.tool_call')),
      data TEXT NOT NULL,
      at TEXT NOT NULL,
      PRIMARY KEY (agent_id, seq)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE daily_usage (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      day TEXT NOT NULL,
      cost_usd REAL NOT NULL DEFAULT 0,
      tokens INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (user_id, day)
    ) STRICT, WITHOUT ROWID;
