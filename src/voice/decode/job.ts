import type { AudioKind } from './kinds.js';

/** A file of audio that is to be decoded. */
export interface DecodeJob {
  /** The absolute path of the file. */
  path: string;
  kind: AudioKind;
  /** The absolute path of ffmpeg; null: it is not installed on this machine. */
  ffmpeg: string | null;
  /** The longest audio, in seconds. */
  mostSeconds: number;
}

/** A stretch of audio in which something is heard, in seconds from the beginning. */
export interface AudioRegion {
  start: number;
  end: number;
  /** True if it sounds like speech. */
  isSpeech: boolean;
}

/** The length of audio, and what is heard in it. */
export interface AudioFacts {
  seconds: number;
  regions: AudioRegion[];
}

/** The reasons for which audio cannot be decoded. */
export type DecodeCode = 'damaged' | 'too_long' | 'too_large' | 'unsupported';

/** One line that the decoding process writes. The last one has `end` or `failed`. */
export type DecodeLine =
  | { decoded: number }
  | { end: AudioFacts }
  | { failed: { code: DecodeCode; message: string } };

/** The error of audio that cannot be decoded; it is told to its owner. */
export class DecodeFailed extends Error {
  constructor(
    readonly code: DecodeCode,
    message: string,
  ) {
    super(message);
  }
}

/** The samples of a second of decoded audio, which has one channel of 16 bits. */
export const SAMPLE_RATE = 16_000;
/** The name of the file of decoded audio in the folder of the process. */
export const DECODED_FILE = 'audio.pcm';

/** A stretch of samples as a decoder returns them: one list of each channel, from -1 to 1. */
export interface SampleBlock {
  channels: Float32Array[];
  rate: number;
}
