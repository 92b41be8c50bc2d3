-- Details that the person who decides sees beside the arguments: the mail account, the original message.
ALTER TABLE approvals ADD COLUMN details TEXT NOT NULL DEFAULT '[]';
