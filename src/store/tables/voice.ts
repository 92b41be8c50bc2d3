import { json, literal, number, orNull, type Row, table, text } from './table.js';

export const transcriptionTable = table('transcriptions', {
  id: text,
  user_id: text,
  filename: orNull(text),
  media_type: text,
  bytes: number,
  asked_language: orNull(text),
  asked_model: orNull(text),
  prompt: orNull(text),
  status: literal<'queued' | 'running' | 'completed' | 'failed' | 'cancelled'>(),
  duration_seconds: orNull(number),
  engine: orNull(literal<'model' | 'whisper' | 'pocketsphinx'>()),
  model: orNull(text),
  language: orNull(text),
  text: orNull(text),
  reason: orNull(literal<'silence' | 'no_speech' | 'not_understood'>()),
  /** Engines that were tried before and failed. */
  passed_over: json<{ engine: string; because: string }[]>(),
  cost_usd: orNull(number),
  error: orNull(text),
  code: orNull(text),
  operation_id: text,
  created_at: text,
  finished_at: orNull(text),
});
export type TranscriptionRow = Row<typeof transcriptionTable>;

export const transcriptionPieceTable = table('transcription_pieces', {
  transcription_id: text,
  number,
  text,
  /** In seconds from the start. */
  segments: json<{ start: number; end: number; text: string }[]>(),
});
export type TranscriptionPieceRow = Row<typeof transcriptionPieceTable>;
