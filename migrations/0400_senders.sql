ALTER TABLE deliveries ADD COLUMN query TEXT;
-- What has expired is found without reading all.
CREATE INDEX auth_sessions_expiry ON auth_sessions (expires_at);
