import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

export type DocumentStatus = 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled';

/** A file of a user, and what was read from it. */
export const documentTable = table('documents', {
  id: text,
  user_id: text,
  filename: text,
  media_type: text,
  bytes: number,
  sha256: text,
  /** null: not known yet. */
  pages: orNull(number),
  /** The languages that are recognized in pictures: `eng+deu`. */
  language: text,
  status: literal<DocumentStatus>(),
  /** The share of its pages that were recognized from a picture. */
  ocr: literal<'none' | 'some' | 'all'>(),
  /** The mean confidence of the recognized pages, from 0 to 100. */
  confidence: orNull(number),
  text_chars: number,
  tags: json<string[]>(),
  /** The parts that are missing, or the reason why nothing was read. */
  error: orNull(text),
  code: orNull(text),
  operation_id: text,
  created_at: text,
  processed_at: orNull(text),
  /** The entry of knowledge by which it is searched. */
  knowledge_id: orNull(text),
  /** True if it is to have such an entry. */
  indexed: flag,
});
export type DocumentRow = Row<typeof documentTable>;

/** The text of a page of a document. */
export const documentPageTable = table('document_pages', {
  document_id: text,
  /** Counted from 1. */
  number,
  text,
  ocr: flag,
  confidence: orNull(number),
});
export type DocumentPageRow = Row<typeof documentPageTable>;
