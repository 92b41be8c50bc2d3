/** An MCP server that was added through the API. */
export interface McpServerRow {
  name: string;
  owner_id: string | null;
  /** The server's settings as JSON, without its secrets. */
  spec: string;
  /** Its environment and headers, sealed. */
  sealed: string | null;
  created_at: string;
}

/** A server whose tools were listed once. Those tools were accepted as they were. */
export interface McpListingRow {
  server: string;
  listed_at: string;
}

export interface McpPinRow {
  server: string;
  tool: string;
  /** The accepted definition as JSON. null: none yet. */
  pinned: string | null;
  /** The server's newest definition as JSON. null: it no longer offers the tool. */
  offered: string | null;
  accepted_by: string | null;
  accepted_at: string | null;
}
