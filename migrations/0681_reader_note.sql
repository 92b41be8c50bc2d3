-- What the content of a page lacks, as a sentence.
ALTER TABLE reader_tasks ADD COLUMN note TEXT;
