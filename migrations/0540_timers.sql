-- The next due times of work that the daemon does at intervals, so that a restart neither loses nor
-- repeats it.
CREATE TABLE timers (
  name TEXT PRIMARY KEY,
  due_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
