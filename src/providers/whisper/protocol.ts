export interface WhisperInput {
  /** Folder with whisper.node in node_modules. */
  engine: string;
  model: string;
  /** Base64 of a mono WAV file, 16 kHz, 16 bits. */
  wav: string;
  /** null: detected by the model. */
  language: string | null;
  prompt: string | null;
  threads: number;
}

/** Times in milliseconds. */
export interface WhisperSegment {
  text: string;
  t0: number;
  t1: number;
}

/** Progress in percent, and finally the result or the error. */
export type WhisperLine =
  | { progress: number }
  | { segments: WhisperSegment[]; language: string | null }
  | { fault: string };
