-- The executions of a minute are counted with those of their hook, once for all of a transaction. A
-- trigger on each insertion made SQLite copy every page that the insertion changes.

DROP TRIGGER executions_counted;
CREATE TRIGGER hooks_counted AFTER UPDATE OF executions ON hooks WHEN NEW.executions > OLD.executions
BEGIN
  INSERT INTO execution_minutes (user_id, minute, count)
    SELECT NEW.user_id, substr(created_at, 1, 16), NEW.executions - OLD.executions
      FROM executions WHERE hook_id = NEW.id ORDER BY id DESC LIMIT 1
    ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
