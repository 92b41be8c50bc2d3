-- The entry of knowledge that a document is searched by; and whether it is to have one.
ALTER TABLE documents ADD COLUMN knowledge_id TEXT;
ALTER TABLE documents ADD COLUMN indexed INTEGER NOT NULL DEFAULT 1 CHECK (indexed IN (0, 1));
