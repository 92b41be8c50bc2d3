
    CREATE TABLE models (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      provider TEXT NOT NULL,
      model_id TEXT NOT NULL,
      base_url TEXT,
      key_sealed TEXT,
      context_window INTEGER NOT NULL,
      max_output_tokens INTEGER,
      supports TEXT NOT NULL,
      price TEXT,
      fallbacks TEXT NOT NULL,
      enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT;

    CREATE TABLE model_routes (
      topic TEXT PRIMARY KEY,
      "primary" TEXT NOT NULL,
      fallbacks TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE model_calls (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      agent_id TEXT NOT NULL,
      hook_id TEXT,
      model TEXT NOT NULL,
      input_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      cost_usd REAL,
      latency_ms INTEGER NOT NULL,
      at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX model_calls_by_user ON model_calls (user_id, at);
