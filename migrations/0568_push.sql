-- Browsers that get pushes are channels too. The table is replaced by a copy, since SQLite cannot
-- change a constraint without a name; what refers to its rows stays.
CREATE TABLE channels_copy (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('slack', 'teams', 'mattermost', 'discord',
    'telegram', 'whatsapp', 'ntfy', 'email', 'webhook', 'push')),
  sender_id TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  verified_at TEXT,
  created_at TEXT NOT NULL,
  session_id TEXT REFERENCES sessions (id) ON DELETE SET NULL,
  url TEXT,
  secret_sealed TEXT,
  code_digest TEXT,
  code_expires_at TEXT,
  open_until TEXT,
  UNIQUE (kind, sender_id)
) STRICT;
INSERT INTO channels_copy (id, user_id, kind, sender_id, sender_name, verified_at, created_at,
  session_id, url, secret_sealed, code_digest, code_expires_at, open_until)
SELECT id, user_id, kind, sender_id, sender_name, verified_at, created_at,
  session_id, url, secret_sealed, code_digest, code_expires_at, open_until
FROM channels;
DROP TABLE channels;
ALTER TABLE channels_copy RENAME TO channels;
CREATE INDEX channels_by_user ON channels (user_id, id);
CREATE INDEX channels_by_session ON channels (session_id) WHERE session_id IS NOT NULL;
