
    CREATE TABLE notifications (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      title TEXT NOT NULL,
      body TEXT NOT NULL,
      link TEXT,
      effect_id TEXT UNIQUE,
      read_at TEXT,
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX notifications_by_user ON notifications (user_id, id);
    CREATE INDEX notifications_unread ON notifications (user_id) WHERE read_at IS NULL;
