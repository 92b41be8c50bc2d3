
    CREATE TABLE users (
      id TEXT PRIMARY KEY,
      username TEXT NOT NULL,
      username_key TEXT NOT NULL UNIQUE,
      email TEXT,
      email_key TEXT UNIQUE,
      password_hash TEXT NOT NULL,
      role TEXT NOT NULL CHECK (role IN ('admin', 'user')),
      disabled_at TEXT,
      created_at TEXT NOT NULL
    ) STRICT;

    CREATE TABLE auth_sessions (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      device TEXT,
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      ended_at TEXT
    ) STRICT;
    CREATE INDEX auth_sessions_by_user ON auth_sessions (user_id, id);

    CREATE TABLE login_failures (
      account TEXT NOT NULL,
      address TEXT NOT NULL,
      count INTEGER NOT NULL,
      last_at TEXT NOT NULL,
      PRIMARY KEY (account, address)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE signing_keys (
      id TEXT PRIMARY KEY,
      sealed TEXT NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT;

    CREATE TABLE facts (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE idempotency (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      route TEXT NOT NULL,
      key TEXT NOT NULL,
      body_digest TEXT NOT NULL,
      status INTEGER,
      reply TEXT,
      created_at TEXT NOT NULL,
      PRIMARY KEY (user_id, route, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX idempotency_by_age ON idempotency (created_at);
