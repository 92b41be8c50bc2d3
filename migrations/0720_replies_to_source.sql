-- A hook can reply to the object that its delivery came from, such as an issue. The table is replaced
-- by a copy, since SQLite cannot change a constraint without a name; what refers to its rows stays.
CREATE TABLE sendings_copy (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  channel_id TEXT REFERENCES channels (id) ON DELETE CASCADE,
  webhook_id TEXT REFERENCES webhooks (id) ON DELETE CASCADE,
  hook_id TEXT REFERENCES hooks (id) ON DELETE CASCADE,
  -- Of a reply: the object on its platform, such as octo/hello#7. NULL: the delivery has none.
  object TEXT,
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
  resent_after INTEGER NOT NULL DEFAULT 0,
  hops INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT one_target
    CHECK ((channel_id IS NULL) + (webhook_id IS NULL) + (hook_id IS NULL) = 2)
) STRICT;
INSERT INTO sendings_copy (id, user_id, channel_id, webhook_id, cause_id, kind, content, status,
  attempts, next_at, receipt, error, created_at, finished_at, resent_after, hops)
SELECT id, user_id, channel_id, webhook_id, cause_id, kind, content, status,
  attempts, next_at, receipt, error, created_at, finished_at, resent_after, hops
FROM sendings;
DROP TABLE sendings;
ALTER TABLE sendings_copy RENAME TO sendings;
CREATE UNIQUE INDEX sendings_to_channel ON sendings (channel_id, cause_id)
  WHERE channel_id IS NOT NULL;
CREATE UNIQUE INDEX sendings_to_webhook ON sendings (webhook_id, cause_id)
  WHERE webhook_id IS NOT NULL;
CREATE UNIQUE INDEX sendings_to_source ON sendings (hook_id, cause_id) WHERE hook_id IS NOT NULL;
CREATE INDEX sendings_by_hook ON sendings (hook_id, id) WHERE hook_id IS NOT NULL;
CREATE INDEX sendings_by_object ON sendings (hook_id, object, id) WHERE hook_id IS NOT NULL;
CREATE INDEX sendings_by_user ON sendings (user_id, id);
CREATE INDEX sendings_given_up ON sendings (finished_at) WHERE status IN ('failed', 'unknown');
CREATE INDEX sendings_by_webhook ON sendings (webhook_id, id, status) WHERE webhook_id IS NOT NULL;
CREATE INDEX sendings_unarrived ON sendings (status, id) WHERE status <> 'sent';
CREATE INDEX sendings_unarrived_by_webhook ON sendings (webhook_id, status, id)
  WHERE webhook_id IS NOT NULL AND status <> 'sent';
CREATE INDEX sendings_to_resend_by_webhook ON sendings (webhook_id, id)
  WHERE webhook_id IS NOT NULL AND status IN ('failed', 'unknown');
CREATE INDEX sendings_to_resend_by_channel ON sendings (channel_id, id)
  WHERE channel_id IS NOT NULL AND status IN ('failed', 'unknown');
CREATE TRIGGER sendings_counted AFTER INSERT ON sendings WHEN NEW.webhook_id IS NOT NULL
BEGIN
  INSERT INTO webhook_counts (webhook_id, status, count) VALUES (NEW.webhook_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER sendings_recounted AFTER UPDATE OF status ON sendings
  WHEN NEW.webhook_id IS NOT NULL AND NEW.status <> OLD.status
BEGIN
  UPDATE webhook_counts SET count = count - 1
    WHERE webhook_id = OLD.webhook_id AND status = OLD.status;
  INSERT INTO webhook_counts (webhook_id, status, count) VALUES (NEW.webhook_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER sendings_uncounted AFTER DELETE ON sendings WHEN OLD.webhook_id IS NOT NULL
BEGIN
  UPDATE webhook_counts SET count = count - 1
    WHERE webhook_id = OLD.webhook_id AND status = OLD.status;
END;

-- A run that a hook started, for its reply.
ALTER TABLE pipeline_runs ADD COLUMN execution_id TEXT;
