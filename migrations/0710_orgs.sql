-- Organizations, their members, and invites for existing accounts.
CREATE TABLE orgs (
  id TEXT PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  -- An admin of the installation approves it before it may use single sign-on.
  approved_at TEXT,
  max_members INTEGER NOT NULL DEFAULT 100,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE org_members (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at TEXT NOT NULL,
  UNIQUE (org_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX org_members_by_user ON org_members (user_id, role);
CREATE INDEX org_members_by_org ON org_members (org_id, id);

CREATE TABLE org_invites (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  digest TEXT NOT NULL UNIQUE,
  email TEXT,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  invited_by TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  expires_at TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX org_invites_by_org ON org_invites (org_id, id);
CREATE INDEX org_invites_by_inviter ON org_invites (invited_by);
CREATE INDEX org_invites_by_expiry ON org_invites (expires_at);

CREATE INDEX audit_by_org ON audit (target, number) WHERE target GLOB 'org_*';
