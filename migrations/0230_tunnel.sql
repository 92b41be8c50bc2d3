-- The tunnel through which others reach this daemon: one row, or none. `process` is the program that
-- runs for it, so that a start after a kill ends a program that was left behind.

    CREATE TABLE tunnel (
      id TEXT PRIMARY KEY CHECK (id = 'tunnel'),
      provider TEXT NOT NULL
        CHECK (provider IN ('cloudflared', 'ngrok', 'tailscale', 'ssh', 'proxy')),
      settings TEXT NOT NULL,
      public_url TEXT,
      token_sealed TEXT,
      credential_id TEXT,
      is_on INTEGER NOT NULL CHECK (is_on IN (0, 1)),
      process TEXT,
      updated_at TEXT NOT NULL
    ) STRICT;
