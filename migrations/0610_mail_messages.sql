-- Headers of e-mails, as their servers have them. The text of a message stays on its server.
CREATE TABLE mail_messages (
  -- Its digits of time are those of its arrival, so that ids are in the order of arrival.
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES mail_accounts (id) ON DELETE CASCADE,
  folder TEXT NOT NULL,
  uid_validity TEXT NOT NULL,
  uid INTEGER NOT NULL,
  message_id TEXT,
  thread_id TEXT NOT NULL,
  -- JSON: the ids of the messages before it in its thread, the oldest first.
  refs TEXT NOT NULL,
  -- JSON: a name and an address; NULL: it has none.
  sender TEXT,
  reply_to TEXT NOT NULL,
  recipients TEXT NOT NULL,
  cc TEXT NOT NULL,
  subject TEXT NOT NULL,
  date TEXT NOT NULL,
  snippet TEXT NOT NULL,
  unread INTEGER NOT NULL CHECK (unread IN (0, 1)),
  flagged INTEGER NOT NULL CHECK (flagged IN (0, 1)),
  -- JSON: the number of its part of the text as such, and of that in HTML.
  parts TEXT NOT NULL,
  attachments TEXT NOT NULL,
  list_unsubscribe TEXT,
  category TEXT NOT NULL,
  priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3),
  -- JSON: what the receiving server wrote of spf, dkim and dmarc; NULL: nothing that can be trusted.
  authentication TEXT,
  size INTEGER NOT NULL,
  UNIQUE (account_id, folder, uid_validity, uid)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_messages_by_user ON mail_messages (user_id, id);
CREATE INDEX mail_messages_by_message_id ON mail_messages (account_id, message_id);
