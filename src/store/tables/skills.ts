import { json, orNull, type Row, table, text } from './table.js';

/** An MCP server that was added through the API. */
export const mcpServerTable = table('mcp_servers', {
  name: text,
  owner_id: orNull(text),
  /** The server's settings as JSON, without its secrets. */
  spec: json(),
  /** Its environment and headers, sealed. */
  sealed: orNull(text),
  created_at: text,
});
export type McpServerRow = Row<typeof mcpServerTable>;

/** A server whose tools were listed once. Those tools were accepted as they were. */
export const mcpListingTable = table('mcp_listings', {
  server: text,
  listed_at: text,
});
export type McpListingRow = Row<typeof mcpListingTable>;

export const mcpPinTable = table('mcp_pins', {
  server: text,
  tool: text,
  /** The accepted definition as JSON. null: none yet. */
  pinned: orNull(json()),
  /** The server's newest definition as JSON. null: it no longer offers the tool. */
  offered: orNull(json()),
  accepted_by: orNull(text),
  accepted_at: orNull(text),
});
export type McpPinRow = Row<typeof mcpPinTable>;
