-- Templates of pipelines that users made. A run keeps the template that it began with.
CREATE TABLE pipeline_templates (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  parameters TEXT NOT NULL,
  stages TEXT NOT NULL,
  limits TEXT NOT NULL,
  on_finish TEXT NOT NULL,
  -- Counts the changes.
  version INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, name)
) STRICT;
CREATE INDEX pipeline_templates_by_user ON pipeline_templates (user_id, id);
