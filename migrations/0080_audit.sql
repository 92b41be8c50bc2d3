-- No reference to users: what somebody did outlasts the account. No CHECK: the look at the database
-- at the start would refuse all of it for one edited entry, and nobody could ask which it was.

    CREATE TABLE audit (
      number INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      at TEXT NOT NULL,
      actor_id TEXT NOT NULL,
      impersonator_id TEXT,
      action TEXT NOT NULL,
      target TEXT,
      outcome TEXT NOT NULL,
      ip TEXT NOT NULL,
      request_id TEXT NOT NULL,
      data TEXT,
      mac TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_by_actor ON audit (actor_id, number);
    CREATE INDEX audit_by_action ON audit (action, number);
    CREATE INDEX audit_by_time ON audit (at);

    CREATE TRIGGER audit_unchanged BEFORE UPDATE ON audit BEGIN
      SELECT RAISE(ABORT, 'the audit log is only appended to');
    END;
    CREATE TRIGGER audit_undeleted BEFORE DELETE ON audit BEGIN
      SELECT RAISE(ABORT, 'the audit log is only appended to');
    END;
