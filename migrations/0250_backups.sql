-- Backups that were made and verified, and their files. A running one belongs to this boot alone.

    CREATE TABLE backups (
      id TEXT PRIMARY KEY,
      kind TEXT NOT NULL CHECK (kind IN ('create', 'verify')),
      cause TEXT NOT NULL CHECK (cause IN ('asked', 'scheduled')),
      status TEXT NOT NULL CHECK (status IN
        ('running', 'done', 'failed', 'cancelled', 'interrupted')),
      file TEXT NOT NULL,
      report TEXT,
      error TEXT,
      created_at TEXT NOT NULL,
      finished_at TEXT,
      removed_at TEXT
    ) STRICT;
