-- An MCP server's secrets are sealed; what its tools were when an admin accepted them is pinned.

    CREATE TABLE mcp_servers (
      name TEXT PRIMARY KEY,
      owner_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      spec TEXT NOT NULL,
      sealed TEXT,
      created_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE mcp_listings (
      server TEXT PRIMARY KEY,
      listed_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE mcp_pins (
      server TEXT NOT NULL REFERENCES mcp_listings (server) ON DELETE CASCADE,
      tool TEXT NOT NULL,
      pinned TEXT,
      offered TEXT,
      accepted_by TEXT REFERENCES users (id) ON DELETE SET NULL,
      accepted_at TEXT,
      PRIMARY KEY (server, tool),
      CHECK (pinned IS NOT NULL OR offered IS NOT NULL)
    ) STRICT, WITHOUT ROWID;
