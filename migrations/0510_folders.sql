-- Folders of the machine whose files are knowledge.
CREATE TABLE knowledge_folders (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- The absolute path of a folder, or of one file.
  path TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('file', 'directory')),
  -- JSON: the patterns of the files that are read.
  patterns TEXT NOT NULL,
  -- JSON: the tags of their entries.
  tags TEXT NOT NULL,
  -- 1: changes are read when they happen.
  watch INTEGER NOT NULL CHECK (watch IN (0, 1)),
  -- The file system that it was on when it was scanned last.
  device TEXT,
  -- The operation that scans it, or has scanned it last.
  operation_id TEXT NOT NULL,
  -- Why the last scan failed.
  error TEXT,
  created_at TEXT NOT NULL,
  scanned_at TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX knowledge_folders_by_path ON knowledge_folders (user_id, path);
CREATE INDEX knowledge_folders_by_user ON knowledge_folders (user_id, id);

-- What is known of each file. Its entry has the id of this row as its source.
CREATE TABLE knowledge_files (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  folder_id TEXT NOT NULL REFERENCES knowledge_folders (id) ON DELETE CASCADE,
  -- Below the folder.
  path TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  modified_ms INTEGER NOT NULL,
  -- NULL until it was read.
  sha256 TEXT,
  -- pending: not read yet. skipped: of a kind that is not read.
  status TEXT NOT NULL CHECK (status IN ('pending', 'ready', 'failed', 'skipped')),
  error TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX knowledge_files_by_path ON knowledge_files (folder_id, path);
CREATE INDEX knowledge_files_by_status ON knowledge_files (user_id, folder_id, status, path);

-- What an entry was made from forgets it when it is deleted.
CREATE INDEX documents_by_entry ON documents (knowledge_id) WHERE knowledge_id IS NOT NULL;
CREATE INDEX reader_tasks_by_entry ON reader_tasks (knowledge_id) WHERE knowledge_id IS NOT NULL;
CREATE TRIGGER knowledge_entries_left AFTER DELETE ON knowledge_entries
WHEN OLD.source_type IN ('document', 'page')
BEGIN
  UPDATE documents SET knowledge_id = NULL WHERE knowledge_id = OLD.id;
  UPDATE reader_tasks SET knowledge_id = NULL WHERE knowledge_id = OLD.id;
END;
