import { DecodeFailed, type SampleBlock } from './job.js';

/** RIFF, WAVEFORMATEX. */
interface WavFormat {
  encoding: number;
  channels: number;
  rate: number;
  bits: number;
}

const [PCM, FLOAT, ALAW, MULAW, EXTENSIBLE] = [1, 3, 6, 7, 0xfffe];
const MAX_CHANNELS = 64;
/** Samples per block. */
const BLOCK = 16_384;

/** null for an unsupported codec. Throws DecodeFailed. */
export const readWav = (file: Buffer): Generator<SampleBlock> | null => {
  const chunks = parseWavChunks(file);
  const format = chunks.get('fmt ');
  const samples = chunks.get('data');
  if (!format || format.length < 16 || !samples) throw damaged('it contains no audio samples');
  const facts = parseWavFormat(format);
  const read = createSampleReader(facts);
  if (facts.channels < 1 || facts.channels > MAX_CHANNELS)
    throw damaged('invalid number of channels');
  if (facts.rate < 1000 || facts.rate > 768_000) throw damaged('invalid sample rate');
  return read && blocksOf(samples, facts, read);
};

/** The last chunk may be truncated or without length, as in a stream. */
const parseWavChunks = (file: Buffer): Map<string, Buffer> => {
  const chunks = new Map<string, Buffer>();
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const length = file.readUInt32LE(at + 4);
    if (!chunks.has(name)) chunks.set(name, file.subarray(at + 8, at + 8 + length));
    at += 8 + length + (length % 2);
  }
  return chunks;
};

const parseWavFormat = (chunk: Buffer): WavFormat => {
  const encoding = chunk.readUInt16LE(0);
  const isExtensible = encoding === EXTENSIBLE && chunk.length >= 26;
  return {
    encoding: isExtensible ? chunk.readUInt16LE(24) : encoding,
    channels: chunk.readUInt16LE(2),
    rate: chunk.readUInt32LE(4),
    bits: chunk.readUInt16LE(14),
  };
};

/** null: unsupported codec. */
const createSampleReader = ({
  encoding,
  bits,
}: WavFormat): ((of: Buffer, at: number) => number) | null => {
  if (encoding === PCM && bits === 8) return (of, at) => ((of[at] ?? 128) - 128) / 128;
  if (encoding === PCM && bits === 16) return (of, at) => of.readInt16LE(at) / 2 ** 15;
  if (encoding === PCM && bits === 24) return (of, at) => of.readIntLE(at, 3) / 2 ** 23;
  if (encoding === PCM && bits === 32) return (of, at) => of.readInt32LE(at) / 2 ** 31;
  if (encoding === FLOAT && bits === 32) return (of, at) => finite(of.readFloatLE(at));
  if (encoding === FLOAT && bits === 64) return (of, at) => finite(of.readDoubleLE(at));
  if (encoding === MULAW && bits === 8) return (of, at) => fromMulaw(of[at] ?? 0xff);
  if (encoding === ALAW && bits === 8) return (of, at) => fromAlaw(of[at] ?? 0xd5);
  return null;
};

const finite = (sample: number): number =>
  Number.isFinite(sample) ? Math.max(-1, Math.min(1, sample)) : 0;

/** ITU-T G.711, µ-law. */
const fromMulaw = (code: number): number => {
  const bits = ~code & 0xff;
  const size = (((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4);
  return ((bits & 0x80 ? -1 : 1) * (size - 0x84)) / 2 ** 15;
};

/** ITU-T G.711, A-law. */
const fromAlaw = (code: number): number => {
  const bits = code ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const size = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return ((bits & 0x80 ? 1 : -1) * size) / 2 ** 15;
};

function* blocksOf(
  samples: Buffer,
  { channels, rate, bits }: WavFormat,
  read: (of: Buffer, at: number) => number,
): Generator<SampleBlock> {
  const width = bits / 8;
  const frames = Math.floor(samples.length / (width * channels));
  for (let from = 0; from < frames; from += BLOCK) {
    const count = Math.min(BLOCK, frames - from);
    const block = Array.from({ length: channels }, (_, channel) =>
      Float32Array.from({ length: count }, (_, frame) =>
        read(samples, ((from + frame) * channels + channel) * width),
      ),
    );
    yield { channels: block, rate };
  }
}

const damaged = (what: string): DecodeFailed =>
  new DecodeFailed('damaged', `The WAV file is damaged: ${what}`);
