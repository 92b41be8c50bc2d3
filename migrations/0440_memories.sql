-- What assistants remember of their owner between conversations.
CREATE TABLE memories (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  about TEXT NOT NULL CHECK (about IN ('person', 'project', 'preference', 'fact')),
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  -- 'person', or the id of the agent or the run that saved it.
  created_by TEXT NOT NULL,
  -- 0: what saved it had read text from outside, and nobody is given it until its owner confirms it.
  confirmed INTEGER NOT NULL CHECK (confirmed IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX memories_by_user ON memories (user_id, id);
CREATE UNIQUE INDEX memories_by_text ON memories (user_id, text);
CREATE INDEX memories_unconfirmed ON memories (user_id, id) WHERE confirmed = 0;
CREATE INDEX memories_pinned ON memories (user_id, id) WHERE pinned = 1 AND confirmed = 1;

-- The words by which memories are found: an inverted index, with the owner in the key.
CREATE TABLE memory_words (
  user_id TEXT NOT NULL,
  word TEXT NOT NULL,
  memory_id TEXT NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, word, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_words_by_memory ON memory_words (memory_id);

-- 1: an agent of a hook that is given what its owner has it remember. Others are given it anyway.
ALTER TABLE agents ADD COLUMN memory INTEGER NOT NULL DEFAULT 0 CHECK (memory IN (0, 1));
