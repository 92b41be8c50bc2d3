-- Mailboxes from which users read e-mail and send it.
CREATE TABLE mail_accounts (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  name TEXT NOT NULL,
  -- JSON: host, port and tls of each server.
  imap TEXT NOT NULL,
  smtp TEXT NOT NULL,
  auth TEXT NOT NULL CHECK (auth IN ('password', 'oauth2')),
  username TEXT NOT NULL,
  credential_id TEXT NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
  -- JSON: the names of the folders that are read.
  folders TEXT NOT NULL,
  watch INTEGER NOT NULL CHECK (watch IN (0, 1)),
  sync_days INTEGER NOT NULL,
  save_sent INTEGER NOT NULL CHECK (save_sent IN (0, 1)),
  -- The name under which the receiving server writes its authentication results; NULL: not known.
  authserv_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failing', 'needs_login')),
  last_sync_at TEXT,
  error TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (user_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_accounts_by_user ON mail_accounts (user_id, id);
CREATE INDEX mail_accounts_by_credential ON mail_accounts (credential_id);
