-- The body as Markdown, where text from outside is escaped in it; null: it is the body itself.
ALTER TABLE notifications ADD COLUMN markdown TEXT;
