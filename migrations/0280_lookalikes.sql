-- Older accounts have none and keep their names: new ones are held against these by name.

    ALTER TABLE users ADD COLUMN username_skeleton TEXT;
    CREATE UNIQUE INDEX users_by_skeleton ON users (username_skeleton);
