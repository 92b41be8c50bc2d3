import { createReadStream } from 'node:fs';
import { DecodeFailed, type SampleBlock } from './job.js';
import type { DecoderName } from './kinds.js';

/** Bytes passed to a decoder at once. */
const PIECE_BYTES = 64 * 1024;

/** Common interface of the decoder packages. */
interface PackedDecoder {
  ready: Promise<void>;
  decode(bytes: Uint8Array): DecodedPiece | Promise<DecodedPiece>;
  flush?(): Promise<DecodedPiece>;
}

interface DecodedPiece {
  channelData: Float32Array[];
  samplesDecoded: number;
  sampleRate: number;
}

/** Loaded on demand. */
const decoders: Record<Exclude<DecoderName, 'wav'>, () => Promise<PackedDecoder>> = {
  opus: async () => new (await import('ogg-opus-decoder')).OggOpusDecoder(),
  vorbis: async () => new (await import('@wasm-audio-decoders/ogg-vorbis')).OggVorbisDecoder(),
  flac: async () => new (await import('@wasm-audio-decoders/flac')).FLACDecoder(),
  mp3: async () => new (await import('mpg123-decoder')).MPEGDecoder(),
};

/** Throws DecodeFailed without audio. */
export async function* readPacked(
  name: Exclude<DecoderName, 'wav'>,
  path: string,
): AsyncGenerator<SampleBlock> {
  const decoder = await decoders[name]();
  await decoder.ready;
  let isEmpty = true;
  const blockOf = ({ channelData, sampleRate, samplesDecoded }: DecodedPiece): SampleBlock[] => {
    if (samplesDecoded === 0) return [];
    isEmpty = false;
    const channels = channelData.map((each) => each.subarray(0, samplesDecoded));
    return [{ channels, rate: sampleRate }];
  };
  try {
    for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
      yield* blockOf(await decoder.decode(piece));
    }
    if (decoder.flush) yield* blockOf(await decoder.flush());
  } catch {
    // The messages of the decoders are about their memory.
    throw damaged(name, 'its content is invalid or incomplete');
  }
  if (isEmpty) throw damaged(name, 'it contains no audio samples');
}

const damaged = (name: DecoderName, reason: string): DecodeFailed =>
  new DecodeFailed('damaged', `The ${name} file is damaged: ${reason}. Upload the recording again`);
