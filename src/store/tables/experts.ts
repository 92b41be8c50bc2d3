import { json, orNull, type Row, table, text } from './table.js';

export const expertTable = table('experts', {
  id: text,
  user_id: text,
  name: text,
  description: text,
  instructions: text,
  keywords: json<string[]>(),
  /** JSON: `http.request`, or `http` for a whole skill. Null means all tools. */
  tools: orNull(json<string[]>()),
  topic: orNull(text),
  model: orNull(text),
  created_at: text,
  updated_at: text,
});
export type ExpertRow = Row<typeof expertTable>;
