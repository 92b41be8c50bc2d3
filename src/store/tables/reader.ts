import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

type ContentFormat = 'markdown' | 'text' | 'html';

export const readerTaskTable = table('reader_tasks', {
  id: text,
  user_id: text,
  url: text,
  format: literal<ContentFormat>(),
  summarize: flag,
  model: orNull(text),
  status: literal<'queued' | 'running' | 'completed' | 'failed' | 'cancelled'>(),
  final_url: orNull(text),
  canonical_url: orNull(text),
  kind: orNull(
    literal<'article' | 'page' | 'pdf' | 'feed' | 'text' | 'json' | 'image' | 'office'>(),
  ),
  title: orNull(text),
  byline: orNull(text),
  site_name: orNull(text),
  published_at: orNull(text),
  language: orNull(text),
  excerpt: orNull(text),
  content_format: orNull(literal<ContentFormat>()),
  truncated: preset(flag),
  words: orNull(number),
  summary: orNull(text),
  summary_model: orNull(text),
  sha256: orNull(text),
  changed: orNull(flag),
  previous_task_id: orNull(text),
  http_status: orNull(number),
  error: orNull(text),
  operation_id: text,
  fetched_at: orNull(text),
  created_at: text,
  finished_at: orNull(text),
  /** Tags for the knowledge entry. Null if it is not stored. */
  tags: orNull(json<string[]>()),
  knowledge_id: orNull(text),
  note: orNull(text),
});
export type ReaderTaskRow = Row<typeof readerTaskTable>;

/** Separate from the tasks, because of their size. */
export const readerContentTable = table('reader_contents', {
  task_id: text,
  content: orNull(text),
  links: json<{ text: string; url: string }[]>(),
});
export type ReaderContentRow = Row<typeof readerContentTable>;
