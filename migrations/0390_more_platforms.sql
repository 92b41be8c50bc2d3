-- Discord and ntfy are platforms too. The tables that list the kinds are replaced by copies, since
-- SQLite cannot change a constraint without a name; what refers to their rows stays. A channel knows
-- until when its platform accepts free text. A code that is sent to an address is for the user who
-- asked for it alone, and each request is recorded, so that they can be limited.

    CREATE TABLE channels_copy (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL CHECK (kind IN ('slack', 'teams', 'mattermost', 'discord',
        'telegram', 'whatsapp', 'ntfy', 'email', 'webhook')),
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
      session_id, url, secret_sealed, code_digest, code_expires_at)
    SELECT id, user_id, kind, sender_id, sender_name, verified_at, created_at,
      session_id, url, secret_sealed, code_digest, code_expires_at
    FROM channels;
    DROP TABLE channels;
    ALTER TABLE channels_copy RENAME TO channels;
    CREATE INDEX channels_by_user ON channels (user_id, id);
    CREATE INDEX channels_by_session ON channels (session_id) WHERE session_id IS NOT NULL;

    CREATE TABLE platforms_copy (
      kind TEXT PRIMARY KEY CHECK (kind IN ('slack', 'teams', 'mattermost', 'discord',
        'telegram', 'whatsapp', 'ntfy')),
      base_url TEXT,
      fields TEXT NOT NULL,
      secrets_sealed TEXT,
      updated_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO platforms_copy (kind, base_url, fields, secrets_sealed, updated_at)
    SELECT kind, base_url, fields, secrets_sealed, updated_at FROM platforms;
    DROP TABLE platforms;
    ALTER TABLE platforms_copy RENAME TO platforms;

    ALTER TABLE link_codes ADD COLUMN asked_by TEXT REFERENCES users (id) ON DELETE CASCADE;
    CREATE INDEX link_codes_by_asker ON link_codes (asked_by) WHERE asked_by IS NOT NULL;

    CREATE TABLE code_requests (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      address TEXT NOT NULL,
      asked_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX code_requests_by_user ON code_requests (user_id, asked_at);
    CREATE INDEX code_requests_by_address ON code_requests (kind, address, asked_at);
    CREATE INDEX code_requests_by_age ON code_requests (asked_at);
