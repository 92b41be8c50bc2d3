
    CREATE TABLE access_tokens (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      scopes TEXT,
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      last_used_at TEXT
    ) STRICT;
    CREATE INDEX access_tokens_by_user ON access_tokens (user_id, id);

    ALTER TABLE auth_sessions ADD COLUMN address TEXT;
    ALTER TABLE auth_sessions ADD COLUMN last_used_at TEXT;

    ALTER TABLE signing_keys ADD COLUMN retired_at TEXT;
    CREATE UNIQUE INDEX signing_keys_in_use ON signing_keys (retired_at IS NULL)
      WHERE retired_at IS NULL;
