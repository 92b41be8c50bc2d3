-- The run of a pipeline that a recurring task has started.
ALTER TABLE recurring_runs ADD COLUMN pipeline_id TEXT;
