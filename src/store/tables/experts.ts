import { json, orNull, type Row, table, text } from './table.js';

/** An expert that a user made. */
export const expertTable = table('experts', {
  id: text,
  user_id: text,
  /** The name in lower case. */
  name: text,
  description: text,
  instructions: text,
  /** Words and phrases in lower case, as JSON. */
  keywords: json<string[]>(),
  /** The tools as JSON: `http.request`, or `http` for all tools of a skill. null: all tools. */
  tools: orNull(json<string[]>()),
  topic: orNull(text),
  model: orNull(text),
  created_at: text,
  updated_at: text,
});
export type ExpertRow = Row<typeof expertTable>;
