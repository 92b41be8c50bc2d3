-- Reservations of model calls under way. They are no part of the spending until they are settled; one
-- that a stop of the daemon left is settled at the next start. Also the number of messages that a run
-- has sent its owner, and those that are sent as one at its end.

    CREATE TABLE reservations (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      agent_id TEXT NOT NULL,
      parent_id TEXT,
      hook_id TEXT,
      day TEXT NOT NULL,
      model TEXT NOT NULL,
      input_tokens INTEGER NOT NULL,
      output_tokens INTEGER NOT NULL,
      cost_usd REAL,
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX reservations_by_user ON reservations (user_id, day);
    CREATE INDEX reservations_by_hook ON reservations (hook_id, day) WHERE hook_id IS NOT NULL;
    CREATE INDEX reservations_by_agent ON reservations (agent_id);
    ALTER TABLE agents ADD COLUMN notices INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE run_notices (
      id INTEGER PRIMARY KEY,
      agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
      line TEXT NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX run_notices_by_agent ON run_notices (agent_id, id);
    UPDATE agents SET limits = json_set(limits, '$.maxAnswerTokens', 8192)
      WHERE limits ->> 'maxAnswerTokens' IS NULL;
