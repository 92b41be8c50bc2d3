-- Files of users, and the text that was read from them. The originals lie in the data folder, under
-- documents/<user>/<sha256>.
CREATE TABLE documents (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  filename TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  -- NULL: not known yet.
  pages INTEGER,
  -- The languages that are recognized in pictures: 'eng+deu'.
  language TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('queued', 'processing', 'completed', 'failed', 'cancelled')),
  ocr TEXT NOT NULL CHECK (ocr IN ('none', 'some', 'all')),
  -- The mean of the recognized pages, from 0 to 100.
  confidence INTEGER,
  text_chars INTEGER NOT NULL,
  tags TEXT NOT NULL,
  -- What is missing, or why nothing was read.
  error TEXT,
  code TEXT,
  operation_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  processed_at TEXT
) STRICT;
CREATE INDEX documents_by_user ON documents (user_id, id);
CREATE UNIQUE INDEX documents_by_content ON documents (user_id, sha256);
CREATE INDEX documents_by_size ON documents (user_id, bytes);

CREATE TABLE document_pages (
  document_id TEXT NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  -- Counted from 1.
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  ocr INTEGER NOT NULL CHECK (ocr IN (0, 1)),
  confidence INTEGER
) STRICT;
CREATE UNIQUE INDEX document_pages_in_order ON document_pages (document_id, number);
