-- Questions that were researched, each as an operation.
CREATE TABLE research_jobs (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  question TEXT NOT NULL,
  depth TEXT NOT NULL CHECK (depth IN ('quick', 'standard', 'deep')),
  -- JSON: where it is searched, of 'web' and 'knowledge'.
  source_kinds TEXT NOT NULL,
  -- JSON: the addresses that the person named.
  urls TEXT NOT NULL,
  model TEXT,
  -- JSON: maxSeconds, maxCostUsd, maxSources.
  limits TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('queued', 'planning', 'searching', 'reading', 'writing', 'completed', 'failed', 'cancelled')),
  -- JSON: the queries, each with its reason.
  plan TEXT NOT NULL,
  -- JSON: calls of models, tokens, cost, searches, pages.
  usage TEXT NOT NULL,
  -- JSON: what was not possible so far, in sentences for the report.
  notes TEXT NOT NULL,
  progress TEXT,
  -- The call of a tool that began it, so that a retry of the call begins nothing else.
  effect_id TEXT,
  operation_id TEXT NOT NULL,
  knowledge_id TEXT,
  error TEXT,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX research_jobs_by_user ON research_jobs (user_id, id);
CREATE INDEX research_jobs_by_status ON research_jobs (user_id, status, id);
CREATE UNIQUE INDEX research_jobs_by_effect
  ON research_jobs (user_id, effect_id) WHERE effect_id IS NOT NULL;

CREATE TABLE research_sources (
  job_id TEXT NOT NULL REFERENCES research_jobs (id) ON DELETE CASCADE,
  -- Counted from 1, in the order in which they were found.
  n INTEGER NOT NULL,
  user_id TEXT NOT NULL,
  -- A page has an address, a text of the person's knowledge has an entry.
  url TEXT,
  entry_id TEXT,
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('found', 'read', 'failed')),
  -- 1: the report quotes it.
  used INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)),
  text TEXT,
  sha256 TEXT,
  error TEXT,
  retrieved_at TEXT,
  CHECK ((url IS NULL) <> (entry_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX research_sources_in_order ON research_sources (user_id, job_id, n);
CREATE INDEX research_sources_by_job ON research_sources (job_id, n);

CREATE TABLE research_reports (
  job_id TEXT PRIMARY KEY REFERENCES research_jobs (id) ON DELETE CASCADE,
  -- JSON: what the model wrote, before its quotes were verified.
  draft TEXT NOT NULL,
  -- JSON: the report; NULL until its quotes were verified.
  report TEXT
) STRICT;
