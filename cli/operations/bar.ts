import type { Operation } from '../../src/client/index.js';
import { duration } from '../text.js';

const BAR_WIDTH = 20;
/** Ours: before so much time has passed, a rate says nothing. */
const RATED_AFTER_MS = 1000;
/** Ours: the rate is that of the last so many milliseconds, as many begin with a burst. */
const RATED_OVER_MS = 30_000;

type ShownProgress = NonNullable<Operation['progress']>;

export const countsOf = ({ done, total, unit }: ShownProgress): string =>
  `${grouped(done)}${total === null ? '' : ` of ${grouped(total)}`} ${unit}`;

/** `1,204`, as everybody reads it, whatever the locale. */
const grouped = (count: number): string => count.toLocaleString('en-US');

export const doneOf = ({ progress }: Operation): number => progress?.done ?? 0;

export const isOver = ({ status }: Operation): boolean =>
  status !== 'queued' && status !== 'running';

/** The progress of an operation at a time, from which its rate follows. */
export interface ProgressSample {
  at: number;
  done: number;
}

/** `[########············]  40 %  800 of 2,000 runs  120/s  10 s left` */
export const barOf = (
  { progress, status }: Operation,
  since: ProgressSample,
  at: number,
): string => {
  if (!progress) return `${status}…`;
  const { done, total } = progress;
  const counts = countsOf(progress);
  const ms = at - since.at;
  const rate = ms >= RATED_AFTER_MS ? ((done - since.done) * 1000) / ms : 0;
  const pace = rate > 0 ? `  ${rate >= 10 ? Math.round(rate) : rate.toFixed(1)}/s` : '';
  // A full bar beside an error would say that all went well.
  const hasFailedFull = status === 'failed' && total !== null && done >= total;
  if (total === null || total === 0 || hasFailedFull) return `${counts}${pace}`;
  const share = Math.min(1, done / total);
  const full = Math.round(share * BAR_WIDTH);
  const bar = '#'.repeat(full) + '·'.repeat(BAR_WIDTH - full);
  const left = rate > 0 && done < total ? `  ${duration(((total - done) / rate) * 1000)} left` : '';
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  return `[${bar}] ${percent} %  ${counts}${pace}${left}`;
};

/** Returns the samples from which the rate follows, the oldest first, with one more. */
export const samplesWith = (
  samples: readonly ProgressSample[],
  sample: ProgressSample,
): ProgressSample[] => {
  const recent = samples.filter((each) => sample.at - each.at <= RATED_OVER_MS);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample];
};
