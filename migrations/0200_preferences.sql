-- Preferences: which of the owner's notifications go to which channel, and when; the notices that
-- wait for one digest; and the times of the last reminders of credentials.

    CREATE TABLE notification_settings (
      user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      quiet INTEGER NOT NULL CHECK (quiet IN (0, 1)),
      quiet_from TEXT NOT NULL,
      quiet_to TEXT NOT NULL,
      timezone TEXT NOT NULL,
      digest INTEGER NOT NULL CHECK (digest IN (0, 1)),
      window_minutes INTEGER NOT NULL,
      threshold INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE notification_choices (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      channel_id TEXT REFERENCES channels (id) ON DELETE CASCADE,
      enabled INTEGER NOT NULL CHECK (enabled IN (0, 1))
    ) STRICT;
    CREATE UNIQUE INDEX notification_choices_one
      ON notification_choices (user_id, kind, ifnull(channel_id, ''));
    CREATE INDEX notification_choices_by_channel ON notification_choices (channel_id);

    CREATE TABLE notice_batches (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT,
      told INTEGER NOT NULL,
      opened_at TEXT NOT NULL,
      closes_at TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX notice_batches_open ON notice_batches (user_id, ifnull(kind, ''));
    CREATE INDEX notice_batches_by_end ON notice_batches (closes_at);

    CREATE TABLE held_notices (
      notification_id TEXT PRIMARY KEY REFERENCES notifications (id) ON DELETE CASCADE,
      batch_id TEXT NOT NULL REFERENCES notice_batches (id) ON DELETE CASCADE
    ) STRICT;
    CREATE INDEX held_notices_by_batch ON held_notices (batch_id);

    ALTER TABLE notifications ADD COLUMN about TEXT;

    ALTER TABLE credentials ADD COLUMN rotate_every_days INTEGER;
    ALTER TABLE credentials ADD COLUMN expiry_told INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE credentials ADD COLUMN rotation_told INTEGER NOT NULL DEFAULT 0
      CHECK (rotation_told IN (0, 1));
    CREATE INDEX credentials_by_expiry ON credentials (expires_at)
      WHERE expires_at IS NOT NULL AND expiry_told < 3;
    CREATE INDEX credentials_to_rotate ON credentials (id)
      WHERE rotate_every_days IS NOT NULL AND rotation_told = 0;
