import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

export const knowledgeFolderTable = table('knowledge_folders', {
  id: text,
  user_id: text,
  path: text,
  type: literal<'file' | 'directory'>(),
  patterns: json<string[]>(),
  tags: json<string[]>(),
  watch: flag,
  device: orNull(text),
  operation_id: text,
  error: orNull(text),
  created_at: text,
  scanned_at: orNull(text),
});
export type KnowledgeFolderRow = Row<typeof knowledgeFolderTable>;

export const knowledgeFileTable = table('knowledge_files', {
  id: text,
  user_id: text,
  folder_id: text,
  path: text,
  bytes: number,
  modified_ms: number,
  /**
   * Inode and time of the last change, and the version of the reader if the file was not read
   * completely. Null if unknown.
   */
  stamp: orNull(text),
  sha256: orNull(text),
  /** `pending`: not read yet. `skipped`: unsupported kind. */
  status: literal<'pending' | 'ready' | 'failed' | 'skipped'>(),
  error: orNull(text),
});
export type KnowledgeFileRow = Row<typeof knowledgeFileTable>;
