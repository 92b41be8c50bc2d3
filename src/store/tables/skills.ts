import { json, orNull, type Row, table, text } from './table.js';

export const mcpServerTable = table('mcp_servers', {
  name: text,
  owner_id: orNull(text),
  /** JSON, without secrets. */
  spec: json(),
  sealed: orNull(text),
  created_at: text,
  /** ID of the organization that owns the server. Null for the servers of the installation. */
  user_id: orNull(text),
});
export type McpServerRow = Row<typeof mcpServerTable>;

/** Its first list of tools was accepted as it was. */
export const mcpListingTable = table('mcp_listings', {
  server: text,
  listed_at: text,
});
export type McpListingRow = Row<typeof mcpListingTable>;

export const mcpPinTable = table('mcp_pins', {
  server: text,
  tool: text,
  pinned: orNull(json()),
  /** Newest definition as JSON. Null if the tool is no longer offered. */
  offered: orNull(json()),
  accepted_by: orNull(text),
  accepted_at: orNull(text),
});
export type McpPinRow = Row<typeof mcpPinTable>;
