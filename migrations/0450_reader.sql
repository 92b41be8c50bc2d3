-- Pages that a person had read, and what came of it.
CREATE TABLE reader_tasks (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- The address as it was asked for, without its fragment.
  url TEXT NOT NULL,
  format TEXT NOT NULL CHECK (format IN ('markdown', 'text', 'html')),
  -- 1: a summary is asked for, of the model if one is named.
  summarize INTEGER NOT NULL CHECK (summarize IN (0, 1)),
  model TEXT,
  status TEXT NOT NULL
    CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  final_url TEXT,
  canonical_url TEXT,
  kind TEXT CHECK (kind IN ('article', 'page', 'pdf', 'feed', 'text', 'json', 'image', 'office')),
  title TEXT,
  byline TEXT,
  site_name TEXT,
  published_at TEXT,
  language TEXT,
  excerpt TEXT,
  content_format TEXT CHECK (content_format IN ('markdown', 'text', 'html')),
  -- 1: the content was longer than what is kept.
  truncated INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)),
  words INTEGER,
  summary TEXT,
  -- The model that wrote the summary.
  summary_model TEXT,
  -- The SHA-256 of the whole content, in hexadecimal digits.
  sha256 TEXT,
  changed INTEGER CHECK (changed IN (0, 1)),
  previous_task_id TEXT,
  http_status INTEGER,
  error TEXT,
  operation_id TEXT NOT NULL,
  fetched_at TEXT,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX reader_tasks_by_user ON reader_tasks (user_id, id);
CREATE INDEX reader_tasks_by_status ON reader_tasks (user_id, status, id);
CREATE INDEX reader_tasks_by_kind ON reader_tasks (user_id, kind, id);
CREATE INDEX reader_tasks_by_url ON reader_tasks (user_id, url, id);

-- The content of a task, apart from it so that lists do not read it.
CREATE TABLE reader_contents (
  task_id TEXT PRIMARY KEY REFERENCES reader_tasks (id) ON DELETE CASCADE,
  content TEXT,
  -- JSON: what it links to, as { text, url }.
  links TEXT NOT NULL
) STRICT;
