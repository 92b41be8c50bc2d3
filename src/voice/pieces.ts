import { type FileHandle, open } from 'node:fs/promises';
import { type AudioRegion, SAMPLE_RATE } from './decode/job.js';
import type { SpeechPiece } from './engines/engine.js';

/** In seconds. */
export type PieceSpan = Pick<AudioRegion, 'start' | 'end'>;

/** Longest silence within a piece. */
const GAP_S = 3;
const BYTES = 2;

/** Speech up to the maximum length, cut at silence and non-speech; null: none left. */
export const nextPiece = (
  regions: AudioRegion[],
  from: number,
  longestSeconds: number,
): PieceSpan | null => {
  const ahead = regions.filter(({ end }) => end > from);
  const first = ahead.findIndex(({ isSpeech }) => isSpeech);
  const [begin, ...others] = first < 0 ? [] : ahead.slice(first);
  if (!begin) return null;
  const piece = { start: Math.max(from, begin.start), end: begin.end };
  for (const { start, end, isSpeech } of others) {
    const isNear = start - piece.end <= GAP_S && end - piece.start <= longestSeconds;
    if (!isSpeech || !isNear) break;
    piece.end = end;
  }
  return piece;
};

export const readPiece = async (path: string, { start, end }: PieceSpan): Promise<SpeechPiece> => {
  const file = await open(path, 'r');
  try {
    const samples = await read(file, start, end);
    return { wav: Buffer.concat([wavHead(samples.length), samples]), seconds: end - start };
  } finally {
    await file.close();
  }
};

const read = async (file: FileHandle, start: number, end: number): Promise<Buffer> => {
  const from = Math.round(start * SAMPLE_RATE) * BYTES;
  const samples = Buffer.alloc(Math.round((end - start) * SAMPLE_RATE) * BYTES);
  const { bytesRead } = await file.read(samples, 0, samples.length, from);
  return samples.subarray(0, bytesRead);
};

const wavHead = (bytes: number): Buffer => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + bytes, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * BYTES, 28);
  head.writeUInt16LE(BYTES, 32);
  head.writeUInt16LE(BYTES * 8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(bytes, 40);
  return head;
};
