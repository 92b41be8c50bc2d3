-- E-mails that users send, as they were given. What goes out is written from these, with the same
-- Message-ID in every attempt.
CREATE TABLE mail_sent (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES mail_accounts (id) ON DELETE CASCADE,
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
  -- sending: on its way, or the daemon has ended before the answer was recorded.
  status TEXT NOT NULL CHECK (status IN ('queued', 'sending', 'sent', 'failed', 'unknown')),
  attempts INTEGER NOT NULL,
  next_at TEXT,
  error TEXT,
  -- The copy in the folder of sent mail.
  copy TEXT NOT NULL CHECK (copy IN ('none', 'wanted', 'saved', 'failed')),
  created_at TEXT NOT NULL,
  finished_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_sent_by_user ON mail_sent (user_id, id);
CREATE INDEX mail_sent_by_age ON mail_sent (user_id, created_at);
CREATE INDEX mail_sent_by_message_id ON mail_sent (message_id);
CREATE INDEX mail_sent_by_account ON mail_sent (account_id);
