-- JSON: the tags under which the content of a page is to be kept as knowledge; null: it is not.
ALTER TABLE reader_tasks ADD COLUMN tags TEXT;
-- The entry of knowledge that was made of it.
ALTER TABLE reader_tasks ADD COLUMN knowledge_id TEXT;
