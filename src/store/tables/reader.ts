import { flag, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

type ContentFormat = 'markdown' | 'text' | 'html';

/** Pages that a person had read. */
export const readerTaskTable = table('reader_tasks', {
  id: text,
  user_id: text,
  url: text,
  /** The form in which the content was asked for. */
  format: literal<ContentFormat>(),
  summarize: flag,
  /** The model that is to summarize; null: that of the topic. */
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
  /** The tags under which it is to be kept as knowledge; null: it is not. */
  tags: orNull(json<string[]>()),
  knowledge_id: orNull(text),
  /** What the content lacks; null: nothing, as far as it is known. */
  note: orNull(text),
});
export type ReaderTaskRow = Row<typeof readerTaskTable>;

/** The contents of the pages, apart from their tasks. */
export const readerContentTable = table('reader_contents', {
  task_id: text,
  content: orNull(text),
  links: json<{ text: string; url: string }[]>(),
});
export type ReaderContentRow = Row<typeof readerContentTable>;
