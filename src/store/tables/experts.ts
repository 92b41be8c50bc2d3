/** An expert that a user made. */
export interface ExpertRow {
  id: string;
  user_id: string;
  /** The name in lower case. */
  name: string;
  description: string;
  instructions: string;
  /** Words and phrases in lower case, as JSON. */
  keywords: string;
  /** The tools as JSON: `http.request`, or `http` for all tools of a skill. null: all tools. */
  tools: string | null;
  topic: string | null;
  model: string | null;
  created_at: string;
  updated_at: string;
}
