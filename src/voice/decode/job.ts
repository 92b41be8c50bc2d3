import type { AudioKind } from './kinds.js';

export interface DecodeJob {
  path: string;
  kind: AudioKind;
  /** null: not installed. */
  ffmpeg: string | null;
  mostSeconds: number;
}

/** Seconds from the beginning. */
export interface AudioRegion {
  start: number;
  end: number;
  isSpeech: boolean;
}

export interface AudioFacts {
  seconds: number;
  regions: AudioRegion[];
}

export type DecodeCode = 'damaged' | 'too_long' | 'too_large' | 'too_slow' | 'unsupported';

/** The last line has `end` or `failed`. */
export type DecodeLine =
  | { decoded: number }
  | { end: AudioFacts }
  | { failed: { code: DecodeCode; message: string } };

/** Shown to the owner. */
export class DecodeFailed extends Error {
  constructor(
    readonly code: DecodeCode,
    message: string,
  ) {
    super(message);
  }
}

/** Decoded audio: mono, 16 bits. */
export const SAMPLE_RATE = 16_000;
export const DECODED_FILE = 'audio.pcm';

/** One list per channel, from -1 to 1. */
export interface SampleBlock {
  channels: Float32Array[];
  rate: number;
}
