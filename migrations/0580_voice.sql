-- Audio that was transcribed for its owner. The audio itself lies in the data folder, under
-- voice/<id>, until its transcription ends.
CREATE TABLE transcriptions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- The name of the file; NULL: it came without one.
  filename TEXT,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  -- What was asked for.
  asked_language TEXT,
  asked_model TEXT,
  prompt TEXT,
  status TEXT NOT NULL
    CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
  duration_seconds REAL,
  -- The engine that transcribed it, and its model.
  engine TEXT,
  model TEXT,
  language TEXT,
  text TEXT,
  -- Why the text is empty.
  reason TEXT CHECK (reason IN ('silence', 'no_speech', 'not_understood')),
  -- JSON: the engines that were to transcribe it and did not, as { engine, because }.
  passed_over TEXT NOT NULL,
  cost_usd REAL,
  error TEXT,
  code TEXT,
  operation_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT;
CREATE INDEX transcriptions_by_user ON transcriptions (user_id, id);
CREATE INDEX transcriptions_by_status ON transcriptions (user_id, status, id);
CREATE INDEX transcriptions_unended ON transcriptions (id) WHERE status IN ('queued', 'running');

-- The pieces of a transcription, in the order of the audio.
CREATE TABLE transcription_pieces (
  transcription_id TEXT NOT NULL REFERENCES transcriptions (id) ON DELETE CASCADE,
  -- Counted from 0.
  number INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- JSON: [{ start, end, text }], in seconds from the beginning of the audio.
  segments TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX transcription_pieces_in_order
  ON transcription_pieces (transcription_id, number);
