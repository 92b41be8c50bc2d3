import { dirname, join } from 'node:path';
import { WorkerFailed, WorkerSilent, type Workers } from '../operations/module.js';
import {
  type AudioFacts,
  DECODED_FILE,
  DecodeFailed,
  type DecodeJob,
  type DecodeLine,
} from './decode/job.js';

interface Decoding {
  userId: string;
  job: DecodeJob;
  signal: AbortSignal;
  decoded(seconds: number): void;
  keep(path: string, facts: AudioFacts): Promise<void>;
}

const SCRIPT = new URL('./decode/main.js', import.meta.url);
const PACKAGES = [
  ...['ogg-opus-decoder', '@wasm-audio-decoders/ogg-vorbis', '@wasm-audio-decoders/flac'],
  ...['mpg123-decoder', '@alexanderolsen/libsamplerate-js', '@shiguredo/rnnoise-wasm'],
];
/** Maximum time without 30 s of decoded audio. */
const SILENCE_MS = 60_000;

/** Separate process. Throws DecodeFailed, or the reason of the signal. */
export const decodeInProcess = async (
  workers: Workers,
  { userId, job, signal, decoded, keep }: Decoding,
): Promise<AudioFacts> => {
  let facts: AudioFacts | null = null;
  let failure: DecodeFailed | null = null;
  try {
    await workers.run<DecodeLine>({
      userId,
      script: SCRIPT,
      input: job,
      readable: [job.path, ...(job.ffmpeg === null ? [] : [dirname(job.ffmpeg)])],
      packages: PACKAGES,
      silenceMs: SILENCE_MS,
      signal,
      take: async (line) => {
        if ('decoded' in line) decoded(line.decoded);
        if ('failed' in line) failure = new DecodeFailed(line.failed.code, line.failed.message);
        if ('end' in line) facts = line.end;
        return failure !== null || facts !== null;
      },
      keep: async (folder) => {
        if (facts) await keep(join(folder, DECODED_FILE), facts);
      },
    });
  } catch (error) {
    if (!(error instanceof WorkerFailed)) throw error;
    if (error instanceof WorkerSilent) {
      throw new DecodeFailed(
        'too_slow',
        `Decoding made no progress for ${SILENCE_MS / 1000} seconds. The machine may be too busy. Upload the recording again later`,
      );
    }
    throw new DecodeFailed(
      'too_large',
      `The audio is too large or too complex. Split the file. Reason: ${error.message}`,
    );
  }
  if (facts) return facts;
  throw failure ?? new DecodeFailed('damaged', 'The audio could not be decoded');
};
