-- The number of times that a cause came back to this daemon, where no header tells it.

    ALTER TABLE agents ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE executions ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE notifications ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outgoing_events ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sendings ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
