-- How a model makes vectors of texts: as JSON, or null if it makes none.
ALTER TABLE models ADD COLUMN embedding TEXT;

-- What has made vectors: those of one embedder can be compared with each other, and with no others.
CREATE TABLE embedders (
  id INTEGER PRIMARY KEY,
  -- All that its vectors depend on.
  key TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  dimensions INTEGER NOT NULL
) STRICT;

-- The embedder whose vectors the searches of a user use.
CREATE TABLE user_embedders (
  user_id TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  embedder INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The embedder that has taken an entry: its vectors are there, or it makes none of this entry. Those
-- without one wait.
ALTER TABLE knowledge_entries ADD COLUMN embedder INTEGER;
CREATE INDEX knowledge_entries_to_embed ON knowledge_entries (user_id, id)
  WHERE embedder IS NULL AND chunks > 0;

-- The hash of what a vector is made of: a text that comes again has its vector already.
ALTER TABLE knowledge_chunks ADD COLUMN hash TEXT;
CREATE INDEX knowledge_chunks_by_hash ON knowledge_chunks (user_id, hash);

-- Vectors by what they were made of, with one byte a dimension. null: the embedder refuses the text.
CREATE TABLE knowledge_vectors (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  embedder INTEGER NOT NULL,
  vector BLOB,
  PRIMARY KEY (user_id, hash, embedder)
) STRICT, WITHOUT ROWID;

-- `vectors`: only those of the entry have changed. `owner`: those of an owner are others now; then
-- `entry_id` is the id of the owner.
ALTER TABLE knowledge_changes ADD COLUMN kind TEXT NOT NULL DEFAULT 'entry'
  CHECK (kind IN ('entry', 'vectors', 'owner'));

-- With an entry go the vectors that no other one has.
CREATE TRIGGER knowledge_entries_forgotten BEFORE DELETE ON knowledge_entries
WHEN OLD.chunks > 0
BEGIN
  DELETE FROM knowledge_vectors
  WHERE user_id = OLD.user_id
    AND hash IN (
      SELECT hash FROM knowledge_chunks WHERE user_id = OLD.user_id AND entry_id = OLD.id
    )
    AND NOT EXISTS (
      SELECT 1 FROM knowledge_chunks AS c
      WHERE c.user_id = OLD.user_id AND c.hash = knowledge_vectors.hash AND c.entry_id <> OLD.id
    );
END;
CREATE INDEX knowledge_chunks_unhashed ON knowledge_chunks (user_id) WHERE hash IS NULL;
