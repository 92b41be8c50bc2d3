-- E-mails that are not sent yet, as somebody left them.
CREATE TABLE mail_drafts (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  account_id TEXT REFERENCES mail_accounts (id) ON DELETE CASCADE,
  -- JSON: addresses.
  "to" TEXT NOT NULL,
  cc TEXT NOT NULL,
  bcc TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  html TEXT,
  -- The e-mail that it answers.
  in_reply_to TEXT,
  -- JSON: ids of documents.
  attachments TEXT NOT NULL,
  -- 1: an agent that has read text from outside has written it.
  untrusted INTEGER NOT NULL CHECK (untrusted IN (0, 1)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  -- The effect of the call of a tool that made it, which makes it once.
  effect_id TEXT,
  UNIQUE (user_id, effect_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_drafts_by_user ON mail_drafts (user_id, id);
CREATE INDEX mail_drafts_by_account ON mail_drafts (account_id);
