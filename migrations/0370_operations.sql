-- Long pieces of work. `checkpoint` is where one goes on after an interruption; it is written together
-- with what the step before it has done. The indexes below find what an outage left undone, oldest
-- first: failed runs of a hook, and messages to a webhook or channel that did not arrive.

    CREATE TABLE operations (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      resource_kind TEXT NOT NULL,
      resource_id TEXT NOT NULL,
      title TEXT NOT NULL,
      status TEXT NOT NULL CHECK (status IN
        ('queued', 'running', 'completed', 'failed', 'cancelled', 'interrupted')),
      input TEXT NOT NULL,
      checkpoint TEXT,
      progress TEXT,
      result TEXT,
      error TEXT,
      created_at TEXT NOT NULL,
      started_at TEXT,
      finished_at TEXT
    ) STRICT;
    CREATE INDEX operations_by_user ON operations (user_id, id);
    CREATE INDEX operations_by_resource ON operations (user_id, resource_kind, resource_id, id);
    CREATE INDEX operations_unended ON operations (user_id, id)
      WHERE status IN ('queued', 'running');

    CREATE INDEX executions_to_replay ON executions (hook_id, id)
      WHERE status IN ('error', 'interrupted');
    CREATE INDEX executions_by_replayed ON executions (replay_of) WHERE replay_of IS NOT NULL;
    CREATE INDEX sendings_to_resend_by_webhook ON sendings (webhook_id, id)
      WHERE webhook_id IS NOT NULL AND status IN ('failed', 'unknown');
    CREATE INDEX sendings_to_resend_by_channel ON sendings (channel_id, id)
      WHERE channel_id IS NOT NULL AND status IN ('failed', 'unknown');
