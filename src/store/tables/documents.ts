import { flag, json, literal, number, orNull, type Row, table, text } from './table.js';

export type DocumentStatus = 'queued' | 'processing' | 'completed' | 'failed' | 'cancelled';

export const documentTable = table('documents', {
  id: text,
  user_id: text,
  filename: text,
  media_type: text,
  bytes: number,
  sha256: text,
  pages: orNull(number),
  /** OCR languages: `eng+deu`. */
  language: text,
  status: literal<DocumentStatus>(),
  ocr: literal<'none' | 'some' | 'all'>(),
  /** Mean OCR confidence, 0 to 100. */
  confidence: orNull(number),
  text_chars: number,
  tags: json<string[]>(),
  error: orNull(text),
  code: orNull(text),
  operation_id: text,
  created_at: text,
  processed_at: orNull(text),
  knowledge_id: orNull(text),
  indexed: flag,
});
export type DocumentRow = Row<typeof documentTable>;

export const documentPageTable = table('document_pages', {
  document_id: text,
  number,
  text,
  ocr: flag,
  confidence: orNull(number),
});
export type DocumentPageRow = Row<typeof documentPageTable>;
