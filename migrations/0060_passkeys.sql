-- A challenge names no user by a foreign key: one that is asked for a name nobody has is kept too.

    CREATE TABLE passkeys (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      relying_party TEXT NOT NULL,
      credential_id TEXT NOT NULL,
      public_key TEXT NOT NULL,
      counter INTEGER NOT NULL,
      transports TEXT NOT NULL,
      created_at TEXT NOT NULL,
      last_used_at TEXT,
      UNIQUE (relying_party, credential_id)
    ) STRICT;
    CREATE INDEX passkeys_by_user ON passkeys (user_id, id);

    CREATE TABLE passkey_challenges (
      id TEXT PRIMARY KEY,
      purpose TEXT NOT NULL CHECK (purpose IN ('register', 'authenticate')),
      user_id TEXT,
      relying_party TEXT NOT NULL,
      challenge TEXT NOT NULL,
      expires_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX passkey_challenges_by_age ON passkey_challenges (expires_at);

    CREATE TABLE passkey_grants (
      code_digest TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      session_id TEXT NOT NULL REFERENCES auth_sessions (id) ON DELETE CASCADE,
      challenge TEXT NOT NULL,
      expires_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX passkey_grants_by_age ON passkey_grants (expires_at);
