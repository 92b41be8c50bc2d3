-- Credentials, and the values they have and had, sealed. The newest version has no end; those
-- before it are good until theirs. Hooks and models name one in place of a secret of their own.

    CREATE TABLE credentials (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      type TEXT NOT NULL CHECK (type IN ('api_key', 'oauth_token', 'password', 'ssh_key',
        'certificate', 'webhook_secret', 'other')),
      description TEXT,
      tags TEXT NOT NULL,
      allowed_tools TEXT NOT NULL,
      allowed_hosts TEXT NOT NULL,
      version INTEGER NOT NULL,
      expires_at TEXT,
      last_used_at TEXT,
      rotated_at TEXT,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      UNIQUE (user_id, name)
    ) STRICT;
    CREATE INDEX credentials_by_user ON credentials (user_id, id);

    CREATE TABLE credential_versions (
      credential_id TEXT NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
      version INTEGER NOT NULL,
      user_id TEXT NOT NULL,
      sealed TEXT NOT NULL,
      valid_until TEXT,
      created_at TEXT NOT NULL,
      PRIMARY KEY (credential_id, version)
    ) STRICT;

    ALTER TABLE hooks ADD COLUMN credential_id TEXT;
    CREATE INDEX hooks_by_credential ON hooks (credential_id) WHERE credential_id IS NOT NULL;
    ALTER TABLE models ADD COLUMN credential_id TEXT;
