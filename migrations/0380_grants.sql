-- Approvals that stand: for a conversation, or for one host.
CREATE TABLE approval_grants (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  scope TEXT NOT NULL CHECK (scope IN ('conversation', 'host')),
  tool TEXT NOT NULL,
  action TEXT NOT NULL,
  tool_digest TEXT,
  origin TEXT,
  method TEXT,
  path_prefix TEXT,
  hook_id TEXT,
  session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  last_used_at TEXT,
  uses INTEGER NOT NULL DEFAULT 0,
  CHECK ((hook_id IS NULL) <> (session_id IS NULL)),
  CHECK (scope = 'conversation' OR (origin IS NOT NULL AND method IS NOT NULL))
) STRICT;
CREATE INDEX approval_grants_by_user ON approval_grants (user_id, id);
CREATE INDEX approval_grants_by_tool ON approval_grants (user_id, tool, action);
CREATE INDEX approval_grants_by_expiry ON approval_grants (expires_at);
CREATE INDEX approval_grants_by_session ON approval_grants (session_id);
CREATE INDEX approval_grants_by_hook ON approval_grants (hook_id);
CREATE TRIGGER approval_grants_of_hook AFTER DELETE ON hooks BEGIN
  DELETE FROM approval_grants WHERE hook_id = OLD.id;
END;

-- The scopes that may be chosen for an approval, and the definition of the tool that was shown.
ALTER TABLE approvals ADD COLUMN scopes TEXT NOT NULL DEFAULT '["once"]';
ALTER TABLE approvals ADD COLUMN tool_digest TEXT;

-- The trust in an agent when its last reply was given, by which the calls of that reply are judged.
ALTER TABLE agents ADD COLUMN reply_untrusted INTEGER NOT NULL DEFAULT 1
  CHECK (reply_untrusted IN (0, 1));
