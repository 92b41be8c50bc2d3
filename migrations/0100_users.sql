-- `limits` and `permissions` hold what an admin set and nothing else, as JSON: what is absent is as
-- the settings and the role say. An invite for an account that exists is its reset link.

    ALTER TABLE users ADD COLUMN limits TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE users ADD COLUMN permissions TEXT NOT NULL DEFAULT '{}';

    ALTER TABLE auth_sessions ADD COLUMN impersonator_id TEXT
      REFERENCES users (id) ON DELETE CASCADE;
    ALTER TABLE auth_sessions ADD COLUMN impersonator_session_id TEXT
      REFERENCES auth_sessions (id) ON DELETE CASCADE;
    CREATE INDEX auth_sessions_by_impersonator ON auth_sessions (impersonator_id)
      WHERE impersonator_id IS NOT NULL;
    CREATE INDEX auth_sessions_by_impersonation ON auth_sessions (impersonator_session_id)
      WHERE impersonator_session_id IS NOT NULL;

    CREATE TABLE invites (
      digest TEXT PRIMARY KEY,
      user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
      role TEXT CHECK (role IN ('admin', 'user')),
      email TEXT,
      invited_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      expires_at TEXT NOT NULL,
      created_at TEXT NOT NULL,
      CHECK ((user_id IS NULL) = (role IS NOT NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX invites_by_user ON invites (user_id) WHERE user_id IS NOT NULL;
    CREATE INDEX invites_by_inviter ON invites (invited_by);
    CREATE INDEX invites_by_age ON invites (expires_at);
