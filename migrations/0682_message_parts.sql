-- Messages of a chat that wait for a moment, since their sender may go on: the agents get them as one.
CREATE TABLE message_parts (
  id INTEGER PRIMARY KEY,
  channel_id TEXT NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  -- 1 if the app of its sender has cut it off, so that the next part goes on within a word.
  cut INTEGER NOT NULL CHECK (cut IN (0, 1)),
  -- 1 if it holds words of others.
  untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
  received_at TEXT NOT NULL,
  due_at TEXT NOT NULL
) STRICT;
CREATE INDEX message_parts_by_channel ON message_parts (channel_id, id);
