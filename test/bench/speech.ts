import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uploadAudio } from '../../src/client/upload.js';
import { registerOwner } from '../harness/account.js';
import { startDaemon } from '../harness/daemon.js';
import { placeSpeechEngine } from '../harness/speech.js';
import { median } from './load.js';
import { untilCompleted } from './operations.js';

const FFMPEG = '/usr/bin/ffmpeg';
const FLITE = '/usr/bin/flite';
const SENTENCE = 'Remind me to send the report on Friday, before the meeting begins.';
const SECONDS = 600;

export interface SpeechFigures {
  /** Ten minutes of Opus, decoded by ffmpeg. */
  ffmpegMs: number;
  /** The same: sent, decoded, cut at pauses, and given in pieces to an engine that answers at once. */
  transcribeMs: number;
  /** The median of the ratios of each round. */
  ratio: number;
}

/**
 * Measures what a transcription costs besides its engine, beside ffmpeg's decoding of the same file, in
 * turns. Resolves to null where ffmpeg and flite are not installed.
 */
export const measureSpeech = async (rounds: number): Promise<SpeechFigures | null> => {
  if (!existsSync(FFMPEG) || !existsSync(FLITE)) return null;
  const home = await mkdtemp(join(tmpdir(), 'adjutant-bench-'));
  const path = join(home, 'talk.ogg');
  speakInto(path, home);
  const content = await readFile(path);
  const daemon = await startDaemon({ home, env: { ADJUTANT_VOICE_PATH: placeSpeechEngine() } });
  const owner = await registerOwner(daemon.url);
  const turns: { ffmpegMs: number; transcribeMs: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = performance.now();
    execFileSync(FFMPEG, [
      '-v',
      'error',
      '-i',
      path,
      '-ar',
      '16000',
      '-ac',
      '1',
      '-f',
      'null',
      '-',
    ]);
    const ffmpegMs = performance.now() - before;
    const since = performance.now();
    const { operationId } = await uploadAudio(owner, { filename: 'talk.ogg', content }, {});
    await untilCompleted(owner, operationId);
    turns.push({ ffmpegMs, transcribeMs: performance.now() - since });
  }
  await daemon.end('SIGTERM');
  await rm(home, { recursive: true, force: true });
  return {
    ffmpegMs: median(turns.map(({ ffmpegMs }) => ffmpegMs)),
    transcribeMs: median(turns.map(({ transcribeMs }) => transcribeMs)),
    ratio: median(turns.map(({ ffmpegMs, transcribeMs }) => transcribeMs / ffmpegMs)),
  };
};

/** Writes ten minutes of speech as Opus, with a second of silence after each sentence. */
const speakInto = (path: string, folder: string): void => {
  const [spoken, padded] = [join(folder, 'sentence.wav'), join(folder, 'padded.wav')];
  execFileSync(FLITE, ['-voice', 'slt', '-t', SENTENCE, '-o', spoken]);
  execFileSync(FFMPEG, ['-v', 'error', '-i', spoken, '-af', 'apad=pad_dur=1', padded]);
  const repeated = ['-v', 'error', '-stream_loop', '-1', '-i', padded, '-t', String(SECONDS)];
  execFileSync(FFMPEG, [...repeated, '-c:a', 'libopus', path]);
};
