-- The login that the server rejects while the status is needs_login. Null: both.
ALTER TABLE mail_accounts ADD COLUMN refused_login TEXT CHECK (refused_login IN ('imap', 'smtp'));
