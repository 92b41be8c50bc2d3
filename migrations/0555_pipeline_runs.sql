-- Runs of pipelines. A run keeps the template that it began with. `step` counts its changes: each is
-- written only if the run is as it was read. While it runs, `deadline_at` is when its time is used
-- up; while it waits, `left_ms` is what is left of it.
CREATE TABLE pipeline_runs (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  template_id TEXT NOT NULL,
  template_version INTEGER NOT NULL,
  name TEXT NOT NULL,
  template TEXT NOT NULL,
  params TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'stopped')),
  untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
  step INTEGER NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  error TEXT,
  deadline_at TEXT,
  left_ms INTEGER,
  created_at TEXT NOT NULL,
  started_at TEXT,
  finished_at TEXT
) STRICT;
CREATE INDEX pipeline_runs_by_user ON pipeline_runs (user_id, id);
CREATE INDEX pipeline_runs_by_status ON pipeline_runs (user_id, status, id);
CREATE INDEX pipeline_runs_by_template ON pipeline_runs (user_id, template_id, id);
CREATE INDEX pipeline_runs_open ON pipeline_runs (id) WHERE finished_at IS NULL;
CREATE INDEX pipeline_runs_deadline ON pipeline_runs (deadline_at) WHERE deadline_at IS NOT NULL;
CREATE INDEX pipeline_runs_finished ON pipeline_runs (finished_at) WHERE finished_at IS NOT NULL;

-- The stages of runs. `due_at` is when something happens by itself, and `due` what: a wait is over, a
-- retry begins, a stage has taken too long, or nobody has answered. `effect` tells if a call that may
-- not be repeated has begun.
CREATE TABLE pipeline_stages (
  run_id TEXT NOT NULL REFERENCES pipeline_runs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'waiting_approval', 'waiting_input',
    'completed', 'failed', 'skipped', 'stopped')),
  reason TEXT,
  attempt INTEGER NOT NULL DEFAULT 1,
  visits INTEGER NOT NULL DEFAULT 1,
  blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked IN (0, 1)),
  agent_id TEXT,
  reserved_tokens INTEGER NOT NULL DEFAULT 0,
  reserved_usd REAL NOT NULL DEFAULT 0,
  digest TEXT,
  input TEXT,
  output TEXT,
  error TEXT,
  effect TEXT NOT NULL DEFAULT 'none' CHECK (effect IN ('none', 'begun')),
  untrusted INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1)),
  due TEXT CHECK (due IN ('wait', 'retry', 'timeout', 'expiry')),
  due_at TEXT,
  started_at TEXT,
  finished_at TEXT,
  PRIMARY KEY (run_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX pipeline_stages_by_agent ON pipeline_stages (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX pipeline_stages_due ON pipeline_stages (due_at) WHERE due_at IS NOT NULL;
