import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

/** A folder of the machine, or one file, that a user has indexed. */
export const knowledgeFolderTable = table('knowledge_folders', {
  id: text,
  user_id: text,
  path: text,
  type: literal<'file' | 'directory'>(),
  patterns: json<string[]>(),
  tags: json<string[]>(),
  watch: flag,
  /** The file system that it was on when it was scanned last. */
  device: orNull(text),
  operation_id: text,
  error: orNull(text),
  created_at: text,
  scanned_at: orNull(text),
});
export type KnowledgeFolderRow = Row<typeof knowledgeFolderTable>;

/** A file of such a folder, as it was when it was read. */
export const knowledgeFileTable = table('knowledge_files', {
  id: text,
  user_id: text,
  folder_id: text,
  /** Below the folder, with slashes. */
  path: text,
  bytes: number,
  modified_ms: number,
  /** Its number in the file system and the time of its last change of any kind; null: not known. */
  stamp: orNull(text),
  /** null: not read yet. */
  sha256: orNull(text),
  /** `pending`: not read yet; `skipped`: of a kind that is not read. */
  status: literal<'pending' | 'ready' | 'failed' | 'skipped'>(),
  error: orNull(text),
});
export type KnowledgeFileRow = Row<typeof knowledgeFileTable>;
