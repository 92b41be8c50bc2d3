-- SCIM: settings of organizations, groups of their identity providers, and the log of requests.
CREATE TABLE org_scim (
  org_id TEXT PRIMARY KEY REFERENCES orgs (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  token_digest TEXT,
  last_used_at TEXT
) STRICT, WITHOUT ROWID;

-- Set while the account is disabled by the identity provider, to the time of that.
ALTER TABLE org_identities ADD COLUMN disabled_at TEXT;

CREATE TABLE org_groups (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  display_name TEXT NOT NULL,
  display_key TEXT NOT NULL,
  external_id TEXT,
  revision INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (org_id, display_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX org_groups_by_org ON org_groups (org_id, id);
CREATE INDEX org_groups_by_external_id ON org_groups (org_id, external_id);

CREATE TABLE org_group_members (
  group_id TEXT NOT NULL REFERENCES org_groups (id) ON DELETE CASCADE,
  identity_id TEXT NOT NULL REFERENCES org_identities (id) ON DELETE CASCADE,
  PRIMARY KEY (group_id, identity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX org_group_members_by_identity ON org_group_members (identity_id);

-- Roles of members by the groups of the identity provider. Without rows, groups grant no role.
CREATE TABLE org_group_roles (
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  group_key TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  PRIMARY KEY (org_id, group_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE org_scim_log (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  status INTEGER NOT NULL,
  detail TEXT,
  username TEXT,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX org_scim_log_by_org ON org_scim_log (org_id, id);
