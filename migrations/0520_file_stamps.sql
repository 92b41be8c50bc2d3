-- What tells a file from another of the same size and time that has taken its place: the number that the
-- file system has for it, and the time at which that was changed in any way. NULL: it is looked at again.
ALTER TABLE knowledge_files ADD COLUMN stamp TEXT;
