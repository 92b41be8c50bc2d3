-- A message that waits may be cancelled by its sender. The table is replaced by a copy, since SQLite
-- cannot change a check; nothing refers to its rows.
CREATE TABLE mail_sent_copy (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- The mail account, which may be gone.
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- JSON: each recipient with its place in the header, its status and the reply of the server.
  recipients TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  html TEXT,
  -- The message that it answers, by the id of its server, and those before that one (JSON).
  in_reply_to TEXT,
  refs TEXT NOT NULL,
  -- JSON: the documents that go with it.
  attachments TEXT NOT NULL,
  -- sending: on its way, or the daemon has ended before the answer was recorded. cancelled: by its
  -- sender, before any recipient had got it.
  status TEXT NOT NULL
    CHECK (status IN ('queued', 'sending', 'sent', 'failed', 'cancelled', 'unknown')),
  attempts INTEGER NOT NULL,
  next_at TEXT,
  error TEXT,
  -- The copy in the folder of sent mail.
  copy TEXT NOT NULL CHECK (copy IN ('none', 'wanted', 'saved', 'failed')),
  created_at TEXT NOT NULL,
  finished_at TEXT,
  -- How often the cause of a message came back to this daemon, for one that a hook or an agent sends;
  -- null: a person has sent it.
  hops INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO mail_sent_copy (id, user_id, account_id, message_id, recipients, subject, text, html,
  in_reply_to, refs, attachments, status, attempts, next_at, error, copy, created_at, finished_at, hops)
SELECT id, user_id, account_id, message_id, recipients, subject, text, html,
  in_reply_to, refs, attachments, status, attempts, next_at, error, copy, created_at, finished_at, hops
FROM mail_sent;
DROP TABLE mail_sent;
ALTER TABLE mail_sent_copy RENAME TO mail_sent;
CREATE INDEX mail_sent_by_user ON mail_sent (user_id, id);
CREATE INDEX mail_sent_by_age ON mail_sent (user_id, created_at);
CREATE INDEX mail_sent_by_message ON mail_sent (account_id, message_id);
-- Those of an account that are on their way.
CREATE INDEX mail_sent_open ON mail_sent (account_id, id) WHERE finished_at IS NULL;
