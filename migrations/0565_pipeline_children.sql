-- Runs that a stage of another run has begun: the one of a stage `pipeline`, or one for each item of a
-- stage `foreach`. They belong to one visit and attempt of the stage. A run for an item has no template
-- of its own ('{}'): its one stage is in the template of its parent.
ALTER TABLE pipeline_runs ADD COLUMN parent_id TEXT REFERENCES pipeline_runs (id) ON DELETE CASCADE;
ALTER TABLE pipeline_runs ADD COLUMN parent_key TEXT;
ALTER TABLE pipeline_runs ADD COLUMN parent_visits INTEGER;
ALTER TABLE pipeline_runs ADD COLUMN parent_attempt INTEGER;
-- The place of the item in the list, from 0, and the item as JSON.
ALTER TABLE pipeline_runs ADD COLUMN item_at INTEGER;
ALTER TABLE pipeline_runs ADD COLUMN item TEXT;
-- The run that everything began with; null for that run itself.
ALTER TABLE pipeline_runs ADD COLUMN root_id TEXT;
-- How many pipelines contain each other down to this one, from 1.
ALTER TABLE pipeline_runs ADD COLUMN depth INTEGER NOT NULL DEFAULT 1;
CREATE INDEX pipeline_runs_by_parent ON pipeline_runs (parent_id, parent_key, item_at)
  WHERE parent_id IS NOT NULL;
DROP INDEX pipeline_runs_by_user;
CREATE INDEX pipeline_runs_by_user ON pipeline_runs (user_id, id) WHERE parent_id IS NULL;

-- `rests`: all that the stage has begun waits for a person or for its time.
ALTER TABLE pipeline_stages ADD COLUMN rests INTEGER NOT NULL DEFAULT 0 CHECK (rests IN (0, 1));
ALTER TABLE pipeline_stages ADD COLUMN operation_id TEXT;
-- `visits_before`: the visits before the last time that a person has retried the run.
ALTER TABLE pipeline_stages ADD COLUMN visits_before INTEGER NOT NULL DEFAULT 0;
