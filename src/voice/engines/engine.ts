import { NamedError } from '../../kernel/failure.js';
import type { TranscriptionRow } from '../../store/tables/voice.js';

/** A piece of audio with one channel of 16 bits, as a WAV file. */
export interface SpeechPiece {
  wav: Buffer;
  seconds: number;
}

/** The request of which a piece is transcribed. */
export interface SpeechCall {
  userId: string;
  /** The id of the operation, under which its cost is counted. */
  askedBy: string;
  /** The language that is spoken, if it is known. */
  language: string | null;
  /** Names and words that are spoken. */
  prompt: string | null;
  signal: AbortSignal;
}

/** A part of a text, with its times in seconds from the beginning of the piece. */
export interface SpeechSegment {
  start: number;
  end: number;
  text: string;
}

/** The text of a piece. */
export interface SpokenText {
  text: string;
  /** Empty if the engine tells no times. */
  segments: SpeechSegment[];
  /** The language, as a code; null: the engine tells none. */
  language: string | null;
  /** The cost in USD; null: it has no price. */
  costUsd: number | null;
}

/** An engine that turns speech into text. */
export interface SpeechEngine {
  /** The name by which a request asks for it: that of a registered model, or the engine's own. */
  name: string;
  engine: NonNullable<TranscriptionRow['engine']>;
  /** The model that it uses. */
  model: string;
  /** The longest piece that it takes, in seconds. */
  longestSeconds: number;
  /** Throws EngineFailed, or the reason of the signal. */
  transcribe(piece: SpeechPiece, call: SpeechCall): Promise<SpokenText>;
}

/** The error of an engine that does not transcribe a piece, so that the next engine is asked. */
export class EngineFailed extends NamedError {}
