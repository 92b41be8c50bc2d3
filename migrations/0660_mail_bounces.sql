-- A bounce finds what was sent from an account by its Message-ID.
CREATE INDEX mail_sent_by_message ON mail_sent (account_id, message_id);
DROP INDEX mail_sent_by_message_id;
DROP INDEX mail_sent_by_account;
