/** The piece of speech that a process of whisper.cpp transcribes, as its input has it. */
export interface WhisperInput {
  /** The folder that has whisper.node in its node_modules. */
  engine: string;
  /** The path of the model. */
  model: string;
  /** A WAV file with one channel of 16,000 samples of 16 bits a second, as Base64. */
  wav: string;
  /** The language that is spoken, as a code; null: the model tells it. */
  language: string | null;
  /** Names and words that are spoken. */
  prompt: string | null;
  threads: number;
}

/** A part of what was said, with its times in milliseconds. */
export interface WhisperSegment {
  text: string;
  t0: number;
  t1: number;
}

/** A line that the process writes: its progress in percent, or at last what it heard or why not. */
export type WhisperLine =
  | { progress: number }
  | { segments: WhisperSegment[]; language: string | null }
  | { fault: string };
