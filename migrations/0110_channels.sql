-- A sender is linked to one account at most, and has one code at a time, as has a user. A code is
-- of one side: the sender's own, or a user's that any sender may redeem.

    CREATE TABLE channels (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN
        ('slack', 'teams', 'mattermost', 'telegram', 'whatsapp', 'email', 'webhook')),
      sender_id TEXT NOT NULL,
      sender_name TEXT NOT NULL,
      verified_at TEXT,
      created_at TEXT NOT NULL,
      UNIQUE (kind, sender_id)
    ) STRICT;
    CREATE INDEX channels_by_user ON channels (user_id, id);

    CREATE TABLE link_codes (
      code_digest TEXT PRIMARY KEY,
      user_id TEXT UNIQUE REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT,
      sender_id TEXT,
      sender_name TEXT,
      expires_at TEXT NOT NULL,
      UNIQUE (kind, sender_id),
      CHECK ((user_id IS NULL) <> (kind IS NULL)),
      CHECK ((kind IS NULL) = (sender_id IS NULL) AND (kind IS NULL) = (sender_name IS NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX link_codes_by_age ON link_codes (expires_at);
