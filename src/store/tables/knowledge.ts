import { bytes, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type KnowledgeSource =
  | 'document'
  | 'file'
  | 'page'
  | 'note'
  | 'email'
  | 'research'
  | 'memory';

export const knowledgeEntryTable = table('knowledge_entries', {
  id: text,
  user_id: text,
  title: text,
  folded_title: text,
  source_type: literal<KnowledgeSource>(),
  source_id: orNull(text),
  uri: orNull(text),
  tags: json<string[]>(),
  /** `outside`: written by others, or by an agent that had read such content. */
  trust: literal<'owner' | 'outside'>(),
  status: literal<'indexing' | 'ready' | 'failed'>(),
  chunks: number,
  chars: number,
  language: orNull(text),
  embedded_with: orNull(text),
  error: orNull(text),
  created_at: text,
  updated_at: text,
  /** Null while the entry waits for an embedder. */
  embedder: orNull(number),
});
export type KnowledgeEntryRow = Row<typeof knowledgeEntryTable>;

export const knowledgeTagTable = table('knowledge_tags', {
  user_id: text,
  tag: text,
  entry_id: text,
});

export const knowledgeChunkTable = table('knowledge_chunks', {
  user_id: text,
  entry_id: text,
  number,
  /** Offset in the whole text, in UTF-16 code units. */
  start: number,
  text,
  heading: orNull(text),
  page: orNull(number),
  /** Hash of the vector's input. Null while unknown. */
  hash: orNull(text),
});
export type KnowledgeChunkRow = Row<typeof knowledgeChunkTable>;

export const knowledgeChangeTable = table('knowledge_changes', {
  seq: number,
  entry_id: text,
  mark: text,
  kind: preset(literal<'entry' | 'vectors' | 'owner'>()),
});

/** Only vectors of one embedder are comparable. */
export const embedderTable = table('embedders', {
  id: preset(number),
  key: text,
  name: text,
  dimensions: number,
});

export const userEmbedderTable = table('user_embedders', { user_id: text, embedder: number });

export const knowledgeVectorTable = table('knowledge_vectors', {
  user_id: text,
  hash: text,
  embedder: number,
  /** One byte per dimension. Null if the embedder refuses the text. */
  vector: orNull(bytes),
});
