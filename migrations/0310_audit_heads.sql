-- The files of heads of the audit log that were begun: one that is gone from then on is a finding. A
-- home is in it as soon as it has a first head; one whose log was begun without `audit.head` adopts
-- it at the start that makes this step, as an entry of the log.

    CREATE TABLE audit_heads (
      place TEXT PRIMARY KEY CHECK (place IN ('home', 'outside')),
      file TEXT NOT NULL
    ) STRICT;
