import samplerate from '@alexanderolsen/libsamplerate-js';
import { SAMPLE_RATE, type SampleBlock } from './job.js';

const AT_ONCE = 16_384;

export async function* mono16k(
  blocks: AsyncIterable<SampleBlock> | Iterable<SampleBlock>,
): AsyncGenerator<Float32Array> {
  const last: { rate: number; convert: Convert } = { rate: SAMPLE_RATE, convert: unchanged };
  for await (const { channels, rate } of blocks) {
    // Chained streams may change the rate.
    if (last.rate !== rate)
      Object.assign(last, { rate, convert: await createSampleRateConverter(rate) });
    const mixed = downmix(channels);
    for (let at = 0; at < mixed.length; at += AT_ONCE) {
      yield last.convert(mixed.subarray(at, at + AT_ONCE));
    }
  }
}

type Convert = (samples: Float32Array) => Float32Array;

const unchanged: Convert = (samples) => samples;

const createSampleRateConverter = async (rate: number): Promise<Convert> => {
  if (rate === SAMPLE_RATE) return unchanged;
  const converterType = samplerate.ConverterType.SRC_SINC_FASTEST;
  const converter = await samplerate.create(1, rate, SAMPLE_RATE, { converterType });
  // The result is overwritten by the next call.
  return (samples) => Float32Array.from(converter.full(samples));
};

const downmix = (channels: Float32Array[]): Float32Array => {
  const [first = new Float32Array(0), ...others] = channels;
  if (others.length === 0) return first;
  return first.map(
    (sample, at) =>
      others.reduce((sum, channel) => sum + (channel[at] ?? 0), sample) / channels.length,
  );
};
