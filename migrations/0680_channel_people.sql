-- A platform may name one person by two IDs: WhatsApp by a number and by an ID of the business.
ALTER TABLE channels ADD COLUMN other_id TEXT;
CREATE UNIQUE INDEX channels_by_other_id ON channels (kind, other_id) WHERE other_id IS NOT NULL;
