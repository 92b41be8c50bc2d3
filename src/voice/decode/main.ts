import { open, readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { systemClock } from '../../kernel/clock.js';
import { errorReason } from '../../kernel/failure.js';
import { readPacked } from './codecs.js';
import { readByFfmpeg } from './ffmpeg.js';
import {
  type AudioFacts,
  DECODED_FILE,
  DecodeFailed,
  type DecodeJob,
  type DecodeLine,
  SAMPLE_RATE,
  type SampleBlock,
} from './job.js';
import { createLoudness } from './loudness.js';
import { mono16k } from './resample.js';
import { openSpeechDetector } from './speech.js';
import { readWav } from './wav.js';

/** Progress interval in seconds of audio. */
const PROGRESS_INTERVAL_S = 30;
/** A process that nobody ends exits after this time. */
const EXIT_AFTER_MS = 60_000;
/** Regions analyzed; later ones count as speech. */
const MAX_ANALYZED_REGIONS = 2000;

/**
 * Separate process. Reads a DecodeJob from stdin, writes samples to a file and DecodeLines to
 * stdout.
 */
const main = async (): Promise<void> => {
  // Libraries print remarks, which would mix with our output.
  console.log = console.error;
  const job: DecodeJob = JSON.parse(await text(process.stdin));
  try {
    write({ end: await decode(job) });
  } catch (error) {
    const { code, message } = error instanceof DecodeFailed ? error : damaged(error);
    write({ failed: { code, message } });
  }
  // The reader ends this process, so that no line is lost.
  systemClock.after(EXIT_AFTER_MS, () => process.exit(0));
};

const write = (line: DecodeLine): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const damaged = (error: unknown): DecodeFailed =>
  new DecodeFailed('damaged', `The file cannot be read: ${errorReason(error).slice(0, 300)}`);

const decode = async (job: DecodeJob): Promise<AudioFacts> => {
  const loudness = createLoudness();
  const file = await open(DECODED_FILE, 'wx+', 0o600);
  let samples = 0;
  let reported = 0;
  for await (const block of mono16k(await readSampleBlocks(job))) {
    loudness.add(block);
    await file.write(Int16Array.from(block, toInteger));
    samples += block.length;
    const seconds = samples / SAMPLE_RATE;
    if (seconds > job.mostSeconds) {
      throw new DecodeFailed(
        'too_long',
        `The audio is longer than ${job.mostSeconds / 3600} hours. Split the file`,
      );
    }
    if (seconds - reported >= PROGRESS_INTERVAL_S) {
      reported = seconds;
      write({ decoded: seconds });
    }
  }
  if (samples === 0)
    throw new DecodeFailed(
      'damaged',
      'The file contains no audio samples. Upload the recording again',
    );
  const detector = await openSpeechDetector();
  const regions: AudioFacts['regions'] = [];
  for (const stretch of loudness.stretches()) {
    const isHeard = regions.length < MAX_ANALYZED_REGIONS;
    regions.push({ ...stretch, isSpeech: !isHeard || (await detector.isSpeech(file, stretch)) });
    write({ decoded: stretch.end });
  }
  await file.close();
  return { seconds: samples / SAMPLE_RATE, regions };
};

const toInteger = (sample: number): number =>
  Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768)));

const readSampleBlocks = async (
  job: DecodeJob,
): Promise<AsyncIterable<SampleBlock> | Iterable<SampleBlock>> => {
  const { decoder } = job.kind;
  if (decoder === null) return readByFfmpeg(job);
  if (decoder !== 'wav') return readPacked(decoder, job.path);
  return readWav(await readFile(job.path)) ?? readByFfmpeg(job);
};

await main();
