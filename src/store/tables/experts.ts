/** An expert that a user made. */
export interface ExpertRow {
  id: string;
  user_id: string;
  /** Lower case. */
  name: string;
  description: string;
  instructions: string;
  /** JSON: words and phrases in lower case. */
  keywords: string;
  /** JSON: `http.request`, or `http` for all of a skill; null: all there are. */
  tools: string | null;
  topic: string | null;
  model: string | null;
  created_at: string;
  updated_at: string;
}
