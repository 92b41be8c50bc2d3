-- Outgoing webhooks that get so many messages a minute at most, and headers of the user's own. Their
-- values are sealed together; their names are shown.

    ALTER TABLE webhooks ADD COLUMN rate_per_minute INTEGER;
    ALTER TABLE webhooks ADD COLUMN headers_sealed TEXT;
    ALTER TABLE webhooks ADD COLUMN header_names TEXT NOT NULL DEFAULT '[]';
