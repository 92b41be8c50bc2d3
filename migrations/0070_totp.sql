
    CREATE TABLE totp (
      user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      sealed TEXT NOT NULL,
      enabled_at TEXT,
      enable_step INTEGER,
      login_step INTEGER,
      disable_step INTEGER,
      created_at TEXT NOT NULL
    ) STRICT;

    CREATE TABLE recovery_codes (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      digest TEXT NOT NULL,
      used_at TEXT,
      PRIMARY KEY (user_id, digest)
    ) STRICT, WITHOUT ROWID;
