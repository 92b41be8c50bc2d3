-- Outbound messages, one row for each message and target: a linked channel or an outgoing webhook.
-- `sending` is stored before the first byte goes out, so that a restart knows which messages may have
-- arrived.

    ALTER TABLE notifications ADD COLUMN direct INTEGER NOT NULL DEFAULT 0
      CHECK (direct IN (0, 1));

    CREATE TABLE sendings (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      channel_id TEXT REFERENCES channels (id) ON DELETE CASCADE,
      webhook_id TEXT REFERENCES webhooks (id) ON DELETE CASCADE,
      cause_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      content TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN ('queued', 'sending', 'sent', 'failed', 'unknown')),
      attempts INTEGER NOT NULL DEFAULT 0,
      next_at TEXT,
      receipt TEXT,
      error TEXT,
      created_at TEXT NOT NULL,
      finished_at TEXT,
      CHECK ((channel_id IS NULL) <> (webhook_id IS NULL))
    ) STRICT;
    CREATE UNIQUE INDEX sendings_to_channel ON sendings (channel_id, cause_id)
      WHERE channel_id IS NOT NULL;
    CREATE UNIQUE INDEX sendings_to_webhook ON sendings (webhook_id, cause_id)
      WHERE webhook_id IS NOT NULL;
    CREATE INDEX sendings_by_user ON sendings (user_id, id);
    CREATE INDEX sendings_unsent ON sendings (status, id) WHERE status IN ('failed', 'unknown');
    CREATE INDEX sendings_given_up ON sendings (finished_at)
      WHERE status IN ('failed', 'unknown');

    CREATE TABLE sending_attempts (
      sending_id TEXT NOT NULL REFERENCES sendings (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      at TEXT NOT NULL,
      duration_ms INTEGER NOT NULL,
      verdict TEXT NOT NULL CHECK (verdict IN ('sent', 'retry', 'failed', 'unknown')),
      status INTEGER,
      excerpt TEXT,
      error TEXT,
      PRIMARY KEY (sending_id, number)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE webhooks (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      url TEXT NOT NULL,
      events TEXT NOT NULL,
      secret_sealed TEXT NOT NULL,
      old_secret_sealed TEXT,
      old_secret_until TEXT,
      credential_id TEXT REFERENCES credentials (id) ON DELETE SET NULL,
      enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
      disabled_reason TEXT,
      failing_since TEXT,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX webhooks_by_user ON webhooks (user_id, id);

    CREATE TABLE outgoing_events (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      type TEXT NOT NULL,
      data TEXT NOT NULL,
      effect_id TEXT UNIQUE,
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX outgoing_events_by_user ON outgoing_events (user_id, id);
