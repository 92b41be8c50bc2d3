-- Experts that users made, and the part of one that an agent plays, as it was then. Agents form
-- trees: the root has no `root_id`, and `depth` says how many are above one. `effect_id` is the call
-- that a sub-agent answers, `parent_ms` what its parent had worked when it was spawned. What a hook
-- or a user may use up in a day is counted in steps too.

    CREATE TABLE experts (
      id TEXT PRIMARY KEY,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      description TEXT NOT NULL,
      instructions TEXT NOT NULL,
      keywords TEXT NOT NULL,
      tools TEXT,
      topic TEXT,
      model TEXT,
      created_at TEXT NOT NULL,
      updated_at TEXT NOT NULL,
      UNIQUE (user_id, name)
    ) STRICT;
    CREATE INDEX experts_by_user ON experts (user_id, id);

    ALTER TABLE agents ADD COLUMN root_id TEXT;
    ALTER TABLE agents ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE agents ADD COLUMN effect_id TEXT;
    ALTER TABLE agents ADD COLUMN parent_ms INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE agents ADD COLUMN expert TEXT;
    CREATE INDEX agents_by_root ON agents (root_id) WHERE root_id IS NOT NULL;
    CREATE INDEX agents_by_parent ON agents (parent_id) WHERE parent_id IS NOT NULL;
    CREATE UNIQUE INDEX agents_by_effect ON agents (effect_id) WHERE effect_id IS NOT NULL;

    ALTER TABLE daily_usage ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE hook_usage (
      hook_id TEXT NOT NULL,
      day TEXT NOT NULL,
      cost_usd REAL NOT NULL DEFAULT 0,
      tokens INTEGER NOT NULL DEFAULT 0,
      steps INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (hook_id, day)
    ) STRICT, WITHOUT ROWID;
