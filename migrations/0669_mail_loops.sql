-- How often the cause of a message came back to this daemon, for one that a hook or an agent sends;
-- null: a person has sent it.
ALTER TABLE mail_sent ADD COLUMN hops INTEGER;
-- Set if a program has sent the message, as its header says (RFC 3834).
ALTER TABLE mail_messages ADD COLUMN automatic INTEGER NOT NULL DEFAULT 0 CHECK (automatic IN (0, 1));
