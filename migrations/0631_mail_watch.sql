-- Mailboxes that are watched are looked for whenever something was written.
CREATE INDEX mail_accounts_watched ON mail_accounts (watch, id);
