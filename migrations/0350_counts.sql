-- What lists filter by and what the overview counts, without reading a million rows: the runs that
-- are not a success, the deliveries of webhooks that have not arrived, and both counted as they change.

    CREATE INDEX executions_unsuccessful ON executions (hook_id, status, id)
      WHERE status <> 'success';
    CREATE INDEX executions_failed ON executions (user_id, id) WHERE status = 'error';
    CREATE INDEX sendings_unarrived ON sendings (status, id) WHERE status <> 'sent';
    CREATE INDEX sendings_unarrived_by_webhook ON sendings (webhook_id, status, id)
      WHERE webhook_id IS NOT NULL AND status <> 'sent';
    DROP INDEX sendings_unsent;
    CREATE INDEX approvals_by_agent ON approvals (agent_id, call_id) WHERE agent_id IS NOT NULL;

    CREATE TABLE execution_minutes (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      minute TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (user_id, minute)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO execution_minutes (user_id, minute, count)
      SELECT user_id, substr(created_at, 1, 16), count(*) FROM executions
        WHERE created_at >= strftime('%Y-%m-%dT%H:%M', 'now', '-2 days')
        GROUP BY user_id, substr(created_at, 1, 16);
    CREATE TRIGGER executions_counted AFTER INSERT ON executions
    BEGIN
      INSERT INTO execution_minutes (user_id, minute, count)
        VALUES (NEW.user_id, substr(NEW.created_at, 1, 16), 1)
        ON CONFLICT DO UPDATE SET count = count + 1;
    END;

    CREATE TABLE webhook_counts (
      webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
      status TEXT NOT NULL CHECK (status IN ('queued', 'sending', 'sent', 'failed', 'unknown')),
      count INTEGER NOT NULL,
      PRIMARY KEY (webhook_id, status)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO webhook_counts (webhook_id, status, count)
      SELECT webhook_id, status, count(*) FROM sendings WHERE webhook_id IS NOT NULL
        GROUP BY webhook_id, status;
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

    ALTER TABLE webhooks ADD COLUMN enabled_at TEXT;
    ALTER TABLE webhooks ADD COLUMN disabled_at TEXT;
