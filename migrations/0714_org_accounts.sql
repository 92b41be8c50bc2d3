-- The resources of an organization belong to an account with the ID of the organization, so that limits,
-- settings and deletion apply to it as to a user. Keys of people are lower case, so that no login,
-- invite or reset finds it.
INSERT INTO users (id, username, username_key, password_hash, role, disabled_at, created_at)
  SELECT id, slug, 'ORG:' || slug, '', 'user', iif(approved_at IS NULL, created_at, NULL), created_at
  FROM orgs;

-- JSON list of the members who get the notifications of the organization. Empty means the owners.
ALTER TABLE orgs ADD COLUMN notify TEXT NOT NULL DEFAULT '[]';

-- The member who started an agent of an organization.
ALTER TABLE agents ADD COLUMN member_id TEXT REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE pipeline_runs ADD COLUMN member_id TEXT REFERENCES users (id) ON DELETE SET NULL;
CREATE INDEX agents_by_member ON agents (member_id, created_at) WHERE member_id IS NOT NULL;

-- Actions for an organization. Entries that were edited by hand may not be JSON.
CREATE INDEX audit_by_shared_org ON audit (iif(json_valid(data), json_extract(data, '$.orgId'), NULL), number)
  WHERE iif(json_valid(data), json_extract(data, '$.orgId'), NULL) IS NOT NULL;

-- Set while the organization is being deleted: the user who gets its resources, or '' to delete them.
ALTER TABLE orgs ADD COLUMN deletion TEXT;
