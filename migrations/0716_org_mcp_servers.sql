-- The organization that owns an MCP server. Null: a server of the installation.
ALTER TABLE mcp_servers ADD COLUMN user_id TEXT REFERENCES users (id) ON DELETE CASCADE;

-- A later server with the same name must not show the tools of the deleted one to others.
CREATE TRIGGER org_mcp_server_deleted AFTER DELETE ON mcp_servers WHEN old.user_id IS NOT NULL BEGIN
  DELETE FROM mcp_listings WHERE server = old.name;
END;
