-- Chat platforms: what an admin sets of each, what came from there, and the conversation of each
-- channel. An event is kept so that a platform's retries of it do nothing; a message that takes
-- several at the platform remembers which of them were sent. A channel of kind `webhook` has an
-- address and a secret of its own, and is verified by a code that is sent there.

    CREATE TABLE platforms (
      kind TEXT PRIMARY KEY CHECK (kind IN
        ('slack', 'teams', 'mattermost', 'telegram', 'whatsapp')),
      base_url TEXT,
      fields TEXT NOT NULL,
      secrets_sealed TEXT,
      updated_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE inbound_events (
      kind TEXT NOT NULL,
      event_id TEXT NOT NULL,
      received_at TEXT NOT NULL,
      PRIMARY KEY (kind, event_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX inbound_events_by_age ON inbound_events (received_at);

    ALTER TABLE channels ADD COLUMN session_id TEXT REFERENCES sessions (id) ON DELETE SET NULL;
    ALTER TABLE channels ADD COLUMN url TEXT;
    ALTER TABLE channels ADD COLUMN secret_sealed TEXT;
    ALTER TABLE channels ADD COLUMN code_digest TEXT;
    ALTER TABLE channels ADD COLUMN code_expires_at TEXT;
    CREATE INDEX channels_by_session ON channels (session_id) WHERE session_id IS NOT NULL;

    ALTER TABLE sessions ADD COLUMN channel_id TEXT REFERENCES channels (id) ON DELETE SET NULL;
    CREATE INDEX sessions_by_channel ON sessions (channel_id) WHERE channel_id IS NOT NULL;

    CREATE TABLE sending_parts (
      sending_id TEXT NOT NULL REFERENCES sendings (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      receipt TEXT,
      PRIMARY KEY (sending_id, number)
    ) STRICT, WITHOUT ROWID;
