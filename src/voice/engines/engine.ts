import { NamedError } from '../../kernel/failure.js';
import type { TranscriptionRow } from '../../store/tables/voice.js';

/** Mono WAV, 16 bits. */
export interface SpeechPiece {
  wav: Buffer;
  seconds: number;
}

export interface SpeechCall {
  userId: string;
  /** Operation id, for the cost. */
  askedBy: string;
  /** null: unknown. */
  language: string | null;
  prompt: string | null;
  signal: AbortSignal;
}

/** Seconds from the beginning of the piece. */
export interface SpeechSegment {
  start: number;
  end: number;
  text: string;
}

export interface SpokenText {
  text: string;
  /** Empty if the engine returns no times. */
  segments: SpeechSegment[];
  /** null: not reported. */
  language: string | null;
  /** null: no price. */
  costUsd: number | null;
}

export interface SpeechEngine {
  /** A registered model name, or the engine's own. */
  name: string;
  engine: NonNullable<TranscriptionRow['engine']>;
  model: string;
  longestSeconds: number;
  /** Throws EngineFailed, or the reason of the signal. */
  transcribe(piece: SpeechPiece, call: SpeechCall): Promise<SpokenText>;
}

/** The next engine is tried. */
export class EngineFailed extends NamedError {}
