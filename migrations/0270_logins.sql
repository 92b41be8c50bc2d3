-- Devices that passed a second factor, wrong codes per account, and the places that an account was
-- logged in from. `proven_at` is set where a login was handed over: when the person was asked.
-- `login_epoch` counts what ends all logins of a user: one under way that began before is void.

    ALTER TABLE users ADD COLUMN login_epoch INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE auth_sessions ADD COLUMN proven_at TEXT;

    CREATE TABLE device_tokens (
      digest TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      expires_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX device_tokens_by_user ON device_tokens (user_id, expires_at);

    CREATE TABLE code_failures (
      holder TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      count INTEGER NOT NULL,
      since TEXT NOT NULL,
      locks INTEGER NOT NULL DEFAULT 0,
      locked_until TEXT,
      told_at TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX code_failures_by_user ON code_failures (user_id);

    CREATE TABLE login_places (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      network TEXT NOT NULL,
      program TEXT NOT NULL,
      told_at TEXT NOT NULL,
      PRIMARY KEY (user_id, network, program)
    ) STRICT, WITHOUT ROWID;
