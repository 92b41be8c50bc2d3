-- Permissions of each user for tools, and the approvals that were asked for. An approval outlives
-- its agent. A session that held untrusted text stays untrusted, whoever writes in it next.

    CREATE TABLE permissions (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      skill_id TEXT NOT NULL,
      action TEXT NOT NULL,
      level TEXT NOT NULL CHECK (level IN ('allow', 'ask', 'deny')),
      reason TEXT,
      expires_at TEXT,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      UNIQUE (user_id, skill_id, action)
    ) STRICT;
    CREATE INDEX permissions_by_user ON permissions (user_id, id);

    CREATE TABLE approvals (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      agent_id TEXT,
      call_id TEXT,
      tool TEXT NOT NULL,
      action TEXT NOT NULL,
      arguments TEXT NOT NULL,
      digest TEXT NOT NULL,
      reason TEXT NOT NULL,
      untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
      status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      decided_at TEXT,
      decided_by TEXT,
      decision_reason TEXT,
      used_at TEXT,
      CHECK ((status = 'pending') = (decided_at IS NULL)),
      UNIQUE (agent_id, call_id)
    ) STRICT;
    CREATE INDEX approvals_by_user ON approvals (user_id, id);
    CREATE INDEX approvals_pending ON approvals (expires_at) WHERE status = 'pending';

    ALTER TABLE sessions ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0
      CHECK (untrusted IN (0, 1));
    UPDATE sessions SET untrusted = 1 WHERE channel = 'hook'
      OR EXISTS (SELECT 1 FROM agents AS a WHERE a.session_id = sessions.id AND a.untrusted = 1);
