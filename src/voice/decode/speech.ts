import type { FileHandle } from 'node:fs/promises';
import { type AudioRegion, SAMPLE_RATE } from './job.js';

/** RNNoise works at 48 kHz. */
const FACTOR = 48_000 / SAMPLE_RATE;
/** RNNoise scales to 16-bit samples. */
const SCALE = 32_768;
/** Seconds analyzed, in the middle of a region. */
const ANALYZED_S = 4;
/** Mean probability threshold. Speech has 0.6 and more, music and noise 0.2 and less. */
const MIN_SPEECH_PROBABILITY = 0.35;

/** Voice detection of RNNoise. Throws if it cannot be loaded. */
export const openSpeechDetector = async () => {
  // The package targets browsers and checks for this global.
  Reflect.set(globalThis, 'WorkerGlobalScope', class {});
  Reflect.set(globalThis, 'self', { location: { href: 'file:///' } });
  const { Rnnoise } = await import('@shiguredo/rnnoise-wasm');
  const rnnoise = await Rnnoise.load();

  /** A frame takes 1 ms, so it stops when the result is certain. */
  const soundsLikeSpeech = (samples: Int16Array): boolean => {
    const state = rnnoise.createDenoiseState();
    const frame = new Float32Array(rnnoise.frameSize);
    const step = frame.length / FACTOR;
    const frames = Math.max(0, Math.ceil(samples.length / step) - 1);
    const needed = frames * MIN_SPEECH_PROBABILITY;
    let sum = 0;
    for (let at = 0; at < frames && sum < needed && sum + frames - at >= needed; at++) {
      for (let n = 0; n < frame.length; n++) frame[n] = sampleAt(samples, at * step + n / FACTOR);
      sum += state.processFrame(frame);
    }
    state.destroy();
    return frames > 0 && sum >= needed;
  };

  return {
    isSpeech: async (file: FileHandle, { start, end }: Pick<AudioRegion, 'start' | 'end'>) => {
      const seconds = Math.min(ANALYZED_S, end - start);
      const from = Math.round(((start + end - seconds) / 2) * SAMPLE_RATE);
      const samples = new Int16Array(Math.round(seconds * SAMPLE_RATE));
      await file.read(samples, 0, samples.byteLength, from * samples.BYTES_PER_ELEMENT);
      return soundsLikeSpeech(amplify(samples));
    },
  };
};

const sampleAt = (samples: Int16Array, at: number): number => {
  const before = Math.floor(at);
  const part = at - before;
  return (samples[before] ?? 0) * (1 - part) + (samples[before + 1] ?? 0) * part;
};

/** Amplifies soft samples: the network was trained with loud speech. */
const amplify = (samples: Int16Array): Int16Array => {
  const peak = samples.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
  const factor = Math.max(1, SCALE / 2 / peak);
  return samples.map((each) => Math.round(each * factor));
};
