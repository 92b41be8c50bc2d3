-- What a person has written down or gathered, in pieces that can be found.
CREATE TABLE knowledge_entries (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  -- The title in lower case and without accents, for the filter of a list.
  folded_title TEXT NOT NULL,
  source_type TEXT NOT NULL CHECK (
    source_type IN ('document', 'file', 'page', 'note', 'email', 'research', 'memory')
  ),
  -- The thing that it was made from; another text of the same source takes its place.
  source_id TEXT,
  uri TEXT,
  tags TEXT NOT NULL,
  trust TEXT NOT NULL CHECK (trust IN ('owner', 'outside')),
  status TEXT NOT NULL CHECK (status IN ('indexing', 'ready', 'failed')),
  chunks INTEGER NOT NULL,
  -- UTF-16 code units of the whole text.
  chars INTEGER NOT NULL,
  language TEXT,
  embedded_with TEXT,
  error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX knowledge_entries_by_user ON knowledge_entries (user_id, id);
CREATE UNIQUE INDEX knowledge_entries_by_source
  ON knowledge_entries (user_id, source_type, source_id) WHERE source_id IS NOT NULL;
CREATE INDEX knowledge_entries_by_type
  ON knowledge_entries (user_id, source_type, id, chunks, chars);
CREATE INDEX knowledge_entries_by_trust ON knowledge_entries (user_id, trust, id);

CREATE TABLE knowledge_tags (
  user_id TEXT NOT NULL,
  tag TEXT NOT NULL,
  entry_id TEXT NOT NULL REFERENCES knowledge_entries (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, tag, entry_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX knowledge_tags_by_entry ON knowledge_tags (entry_id);

-- The pieces of the texts. Successive ones may overlap: `start` is the place in the whole text.
CREATE TABLE knowledge_chunks (
  user_id TEXT NOT NULL,
  entry_id TEXT NOT NULL REFERENCES knowledge_entries (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  start INTEGER NOT NULL,
  text TEXT NOT NULL,
  heading TEXT,
  page INTEGER
) STRICT;
CREATE UNIQUE INDEX knowledge_chunks_by_number ON knowledge_chunks (user_id, entry_id, number);
CREATE INDEX knowledge_chunks_by_entry ON knowledge_chunks (entry_id);

-- The changes that the search index, a file of its own, takes over in their order. The newest one
-- stays: by its mark the index knows that it belongs to this database.
CREATE TABLE knowledge_changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entry_id TEXT NOT NULL,
  mark TEXT NOT NULL
) STRICT;

CREATE TRIGGER knowledge_entries_inserted AFTER INSERT ON knowledge_entries
WHEN NEW.chunks > 0
BEGIN
  INSERT INTO knowledge_changes (entry_id, mark) VALUES (NEW.id, hex(randomblob(8)));
END;
CREATE TRIGGER knowledge_entries_updated
AFTER UPDATE OF title, source_type, tags, trust, chunks, created_at ON knowledge_entries
WHEN OLD.chunks > 0 OR NEW.chunks > 0
BEGIN
  INSERT INTO knowledge_changes (entry_id, mark) VALUES (NEW.id, hex(randomblob(8)));
END;
CREATE TRIGGER knowledge_entries_deleted AFTER DELETE ON knowledge_entries
WHEN OLD.chunks > 0
BEGIN
  INSERT INTO knowledge_changes (entry_id, mark) VALUES (OLD.id, hex(randomblob(8)));
END;
