-- Users of an identity provider, bound to accounts.
ALTER TABLE users ADD COLUMN managed_by TEXT REFERENCES orgs (id) ON DELETE SET NULL;

CREATE TABLE org_identities (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  user_name TEXT NOT NULL,
  user_name_key TEXT NOT NULL,
  external_id TEXT,
  -- From the first login by SAML on.
  issuer TEXT,
  name_id TEXT,
  email TEXT,
  given_name TEXT,
  family_name TEXT,
  display_name TEXT,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- Deleted by the identity provider: the account is kept, disabled.
  deleted_at TEXT,
  last_login_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (org_id, user_name_key),
  UNIQUE (org_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX org_identities_by_external_id ON org_identities (org_id, external_id)
  WHERE external_id IS NOT NULL;
CREATE UNIQUE INDEX org_identities_by_name_id ON org_identities (org_id, issuer, name_id)
  WHERE name_id IS NOT NULL;
CREATE INDEX org_identities_by_org ON org_identities (org_id, id);
CREATE INDEX org_identities_by_user ON org_identities (user_id);
CREATE INDEX users_by_manager ON users (managed_by) WHERE managed_by IS NOT NULL;
