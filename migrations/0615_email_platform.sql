-- E-mail is a platform to which messages are only sent. The table that lists the kinds is replaced by
-- a copy, since SQLite cannot change a constraint without a name.

    CREATE TABLE platforms_copy (
      kind TEXT PRIMARY KEY CHECK (kind IN ('slack', 'teams', 'mattermost', 'discord',
        'telegram', 'whatsapp', 'ntfy', 'email')),
      base_url TEXT,
      fields TEXT NOT NULL,
      secrets_sealed TEXT,
      updated_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO platforms_copy (kind, base_url, fields, secrets_sealed, updated_at)
    SELECT kind, base_url, fields, secrets_sealed, updated_at FROM platforms;
    DROP TABLE platforms;
    ALTER TABLE platforms_copy RENAME TO platforms;
