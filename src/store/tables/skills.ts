/** An MCP server that was added through the API. */
export interface McpServerRow {
  name: string;
  owner_id: string | null;
  /** JSON, without its secrets. */
  spec: string;
  /** Its environment and headers. */
  sealed: string | null;
  created_at: string;
}

/** A server whose tools have been seen once: those were accepted as they were. */
export interface McpListingRow {
  server: string;
  listed_at: string;
}

export interface McpPinRow {
  server: string;
  tool: string;
  /** The definition that was accepted, JSON; null: none yet. */
  pinned: string | null;
  /** As the server has it by its last word, JSON; null: it offers the tool no more. */
  offered: string | null;
  accepted_by: string | null;
  accepted_at: string | null;
}
