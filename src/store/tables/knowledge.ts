import { bytes, json, literal, number, orNull, preset, type Row, table, text } from './table.js';

export type KnowledgeSource =
  | 'document'
  | 'file'
  | 'page'
  | 'note'
  | 'email'
  | 'research'
  | 'memory';

/** One item of knowledge, without its text. */
export const knowledgeEntryTable = table('knowledge_entries', {
  id: text,
  user_id: text,
  title: text,
  /** The title in lower case and without accents. */
  folded_title: text,
  source_type: literal<KnowledgeSource>(),
  /** The thing that it was made from. */
  source_id: orNull(text),
  uri: orNull(text),
  tags: json<string[]>(),
  /** `outside`: others wrote it, or an agent that had read what others wrote. */
  trust: literal<'owner' | 'outside'>(),
  status: literal<'indexing' | 'ready' | 'failed'>(),
  chunks: number,
  chars: number,
  language: orNull(text),
  embedded_with: orNull(text),
  error: orNull(text),
  created_at: text,
  updated_at: text,
  /** The embedder that has taken it; null: it waits for one. */
  embedder: orNull(number),
});
export type KnowledgeEntryRow = Row<typeof knowledgeEntryTable>;

export const knowledgeTagTable = table('knowledge_tags', {
  user_id: text,
  tag: text,
  entry_id: text,
});

/** A piece of the text of an entry. */
export const knowledgeChunkTable = table('knowledge_chunks', {
  user_id: text,
  entry_id: text,
  /** Counts from 0. */
  number,
  /** The place of its first character in the whole text, in UTF-16 code units. */
  start: number,
  text,
  heading: orNull(text),
  page: orNull(number),
  /** The hash of what a vector of it is made of; null: not known yet. */
  hash: orNull(text),
});
export type KnowledgeChunkRow = Row<typeof knowledgeChunkTable>;

/** The entries that changed, in the order of their changes. */
export const knowledgeChangeTable = table('knowledge_changes', {
  seq: number,
  entry_id: text,
  mark: text,
  kind: preset(literal<'entry' | 'vectors' | 'owner'>()),
});

/** A maker of vectors. Only those of one embedder can be compared with each other. */
export const embedderTable = table('embedders', {
  id: preset(number),
  /** All that its vectors depend on. */
  key: text,
  name: text,
  dimensions: number,
});

/** The embedder whose vectors the searches of a user use. */
export const userEmbedderTable = table('user_embedders', { user_id: text, embedder: number });

/** Vectors by the hash of what they were made of. */
export const knowledgeVectorTable = table('knowledge_vectors', {
  user_id: text,
  hash: text,
  embedder: number,
  /** One byte a dimension; null: the embedder refuses the text. */
  vector: orNull(bytes),
});
