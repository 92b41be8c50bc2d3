-- The organization that owns a model. Null: the model of the installation, for everybody.
ALTER TABLE models ADD COLUMN user_id TEXT REFERENCES users (id) ON DELETE CASCADE;
