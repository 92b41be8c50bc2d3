-- An execution that is to run is a row of the queue itself, instead of a job beside it. run_at is
-- when it may run, null where it is not in the queue; boot is the start of the daemon that claimed it.

    ALTER TABLE executions ADD COLUMN run_at TEXT;
    ALTER TABLE executions ADD COLUMN boot TEXT;
    UPDATE executions SET run_at = j.run_at, boot = j.boot, attempts = j.attempts
      FROM jobs AS j WHERE j.kind = 'execution' AND j.ref = executions.id
        AND executions.status IN ('queued', 'running');
    DELETE FROM jobs WHERE kind = 'execution';
    CREATE INDEX executions_waiting ON executions (hook_id, id, run_at)
      WHERE run_at IS NOT NULL AND boot IS NULL;
    CREATE INDEX executions_claimed ON executions (boot) WHERE boot IS NOT NULL;
