-- Single sign-on of organizations (SAML 2.0).
CREATE TABLE org_sso (
  org_id TEXT PRIMARY KEY REFERENCES orgs (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  enforced INTEGER NOT NULL CHECK (enforced IN (0, 1)),
  entity_id TEXT NOT NULL,
  sso_url TEXT NOT NULL,
  -- JSON list of PEM texts.
  certificates TEXT NOT NULL,
  -- JSON: names of the attributes that hold the username, e-mail address, name and groups.
  attributes TEXT NOT NULL,
  -- JSON list of verified domains whose e-mail addresses accounts may get.
  domains TEXT NOT NULL,
  default_role TEXT NOT NULL CHECK (default_role IN ('admin', 'member')),
  -- JSON: group to role.
  group_roles TEXT NOT NULL,
  allow_idp_initiated INTEGER NOT NULL CHECK (allow_idp_initiated IN (0, 1)),
  token_days INTEGER NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE org_domains (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  domain TEXT NOT NULL,
  -- Content of the DNS record that proves ownership.
  value TEXT NOT NULL,
  verified_at TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (org_id, domain)
) STRICT, WITHOUT ROWID;
-- One organization per verified domain.
CREATE UNIQUE INDEX org_domains_verified ON org_domains (domain) WHERE verified_at IS NOT NULL;

-- Logins that were started here. A response uses one up.
CREATE TABLE saml_requests (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  relay_digest TEXT NOT NULL UNIQUE,
  -- Digest of the cookie of the browser that started the login.
  cookie_digest TEXT NOT NULL,
  return_to TEXT NOT NULL,
  -- The logged-in user who links this identity to the account, and the session.
  link_user_id TEXT REFERENCES users (id) ON DELETE CASCADE,
  link_session_id TEXT,
  expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX saml_requests_by_org ON saml_requests (org_id);
CREATE INDEX saml_requests_by_user ON saml_requests (link_user_id);
CREATE INDEX saml_requests_by_expiry ON saml_requests (expires_at);

-- Accepted assertions, until they expire.
CREATE TABLE saml_assertions (
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  assertion_id TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  PRIMARY KEY (org_id, assertion_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX saml_assertions_by_expiry ON saml_assertions (expires_at);

-- Verified logins whose session has not begun yet.
CREATE TABLE saml_logins (
  code_digest TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  cookie_digest TEXT NOT NULL,
  return_to TEXT NOT NULL,
  -- Started by the identity provider: the user must confirm the login.
  needs_confirmation INTEGER NOT NULL CHECK (needs_confirmation IN (0, 1)),
  session_expires_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX saml_logins_by_org ON saml_logins (org_id);
CREATE INDEX saml_logins_by_user ON saml_logins (user_id);
CREATE INDEX saml_logins_by_expiry ON saml_logins (expires_at);

-- The newest results, for the admins of the organization.
CREATE TABLE org_sso_results (
  id TEXT PRIMARY KEY,
  org_id TEXT NOT NULL REFERENCES orgs (id) ON DELETE CASCADE,
  at TEXT NOT NULL,
  -- Null for a login.
  code TEXT,
  reason TEXT,
  -- Null unless the signature was verified.
  name_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX org_sso_results_by_org ON org_sso_results (org_id, id);

-- Latest end of a session that an identity provider started. Null for other sessions.
ALTER TABLE auth_sessions ADD COLUMN sso_expires_at TEXT;
