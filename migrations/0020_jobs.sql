-- The durable queue. A claim carries the boot id of its daemon; a job is deleted when it is done.

    CREATE TABLE jobs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,
      ref TEXT NOT NULL,
      lane TEXT NOT NULL,
      run_at TEXT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      boot TEXT
    ) STRICT;
    CREATE INDEX jobs_waiting ON jobs (lane, id) WHERE boot IS NULL;
    CREATE INDEX jobs_of_agents ON jobs (ref) WHERE kind = 'agent';
