import { json, literal, number, orNull, type Row, table, text } from './table.js';

/** Audio that was transcribed for its owner. */
export const transcriptionTable = table('transcriptions', {
  id: text,
  user_id: text,
  /** The name of the file; null: it came without one. */
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
  /** The reason for which the text is empty. */
  reason: orNull(literal<'silence' | 'no_speech' | 'not_understood'>()),
  /** The engines that were to transcribe it and did not. */
  passed_over: json<{ engine: string; because: string }[]>(),
  cost_usd: orNull(number),
  error: orNull(text),
  code: orNull(text),
  operation_id: text,
  created_at: text,
  finished_at: orNull(text),
});
export type TranscriptionRow = Row<typeof transcriptionTable>;

/** The pieces of a transcription, in the order of the audio. */
export const transcriptionPieceTable = table('transcription_pieces', {
  transcription_id: text,
  number,
  text,
  /** In seconds from the beginning of the audio. */
  segments: json<{ start: number; end: number; text: string }[]>(),
});
export type TranscriptionPieceRow = Row<typeof transcriptionPieceTable>;
