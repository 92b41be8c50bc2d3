-- The last check of the public address, so that a restart does not forget whether it is reached.

    CREATE TABLE tunnel_reach (
      id TEXT PRIMARY KEY CHECK (id = 'reach'),
      address TEXT NOT NULL,
      is_ok INTEGER NOT NULL CHECK (is_ok IN (0, 1)),
      checked_at TEXT NOT NULL
    ) STRICT;
