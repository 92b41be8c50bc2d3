import { type AudioRegion, SAMPLE_RATE } from './job.js';

/** Samples per frame, and frames per second. */
const FRAME = SAMPLE_RATE / 100;
const FRAMES = SAMPLE_RATE / FRAME;

/** Full scale: -60 dB. */
const SILENCE_LEVEL = 0.001;
/** Relative to the loud parts: -40 dB. */
const SOFT_PART = 0.01;
/** Silence that separates regions, and silence kept at their ends. */
const GAP_S = 0.5;
const MARGIN_S = 0.25;
/** Shortest sound, and longest region, in seconds. */
const MIN_S = 0.06;
const MAX_S = 28;
/** A long region is cut at its softest point within this last part. */
const CUT_PART = 0.4;

type Stretch = Pick<AudioRegion, 'start' | 'end'>;

export const createLoudness = () => {
  const frames: number[] = [];
  let sum = 0;
  let count = 0;
  return {
    add: (samples: Float32Array): void => {
      for (const sample of samples) {
        sum += sample * sample;
        count++;
        if (count < FRAME) continue;
        frames.push(Math.sqrt(sum / FRAME));
        sum = 0;
        count = 0;
      }
    },
    /** Without silence, none longer than an engine handles well. */
    stretches: (): Stretch[] => findStretches(frames),
  };
};

const findStretches = (frames: number[]): Stretch[] => {
  const silence = Math.max(SILENCE_LEVEL, loudLevel(frames) * SOFT_PART);
  const sounds: { from: number; to: number }[] = [];
  for (let at = 0; at < frames.length; at++) {
    if ((frames[at] ?? 0) < silence) continue;
    const last = sounds.at(-1);
    if (last && at - last.to <= GAP_S * FRAMES) last.to = at + 1;
    else sounds.push({ from: at, to: at + 1 });
  }
  return sounds
    .filter(({ from, to }) => to - from >= MIN_S * FRAMES)
    .flatMap((sound) => divided(frames, sound))
    .map(({ from, to }) => ({
      start: Math.max(0, from / FRAMES - MARGIN_S),
      end: Math.min(frames.length / FRAMES, to / FRAMES + MARGIN_S),
    }));
};

/** Loudness that few frames exceed. */
const loudLevel = (frames: number[]): number => {
  const sorted = Float32Array.from(frames).sort();
  return sorted[Math.floor(sorted.length * 0.98)] ?? 0;
};

const divided = (
  frames: number[],
  { from, to }: { from: number; to: number },
): { from: number; to: number }[] => {
  const parts: { from: number; to: number }[] = [];
  let start = from;
  while (to - start > MAX_S * FRAMES) {
    const end = start + MAX_S * FRAMES;
    const cut = softestPoint(frames, Math.round(end - CUT_PART * MAX_S * FRAMES), end);
    parts.push({ from: start, to: cut });
    start = cut;
  }
  return [...parts, { from: start, to }];
};

/** Middle of the softest 0.1 s. */
const softestPoint = (frames: number[], from: number, to: number): number => {
  const width = FRAMES / 10;
  let softest = { at: to, sum: Number.POSITIVE_INFINITY };
  for (let at = from; at + width <= to; at++) {
    const sum = frames.slice(at, at + width).reduce((all, each) => all + each, 0);
    if (sum < softest.sum) softest = { at: at + width / 2, sum };
  }
  return softest.at;
};
