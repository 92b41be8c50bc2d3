import type { Operation } from '../../src/client/index.js';
import { duration, localTime, oneLine } from '../text.js';
import { formatProgressCounts, type ShownProgress, sizeText } from './counts.js';

const BAR_WIDTH = 20;
/** Before this time has passed, no rate is shown. */
const RATED_AFTER_MS = 1000;
/** The rate covers only this time, because many operations begin with a burst. */
const RATED_OVER_MS = 30_000;

type WaitingRetry = NonNullable<ShownProgress['retry']>;

export type ShownState = Pick<Operation, 'progress' | 'status'>;

export const progressDone = ({ progress }: ShownState): number => progress?.done ?? 0;

export const isOver = ({ status }: Operation): boolean =>
  status !== 'queued' && status !== 'running';

/** Progress at a point in time, to calculate the rate. */
export interface ProgressSample {
  at: number;
  done: number;
}

/** `[########············]  40 %  800 of 2,000 runs  120/s  10 s left` */
export const renderProgressBar = (
  { progress, status }: ShownState,
  since: ProgressSample,
  at: number,
): string => {
  if (!progress) return `${status}…`;
  const { done, total } = progress;
  const counts = formatProgressCounts(progress);
  if (progress.retry) return `${retryText(progress.retry)}, at ${counts}`;
  const ms = at - since.at;
  const rate = ms >= RATED_AFTER_MS ? ((done - since.done) * 1000) / ms : 0;
  const pace = rate > 0 ? `  ${rateText(rate, progress.unit)}/s` : '';
  // A full bar next to an error would suggest success.
  const hasFailedFull = status === 'failed' && total !== null && done >= total;
  if (total === null || total === 0 || hasFailedFull) return `${counts}${pace}`;
  const share = Math.min(1, done / total);
  const full = Math.round(share * BAR_WIDTH);
  const bar = '#'.repeat(full) + '·'.repeat(BAR_WIDTH - full);
  const percent = `${Math.floor(share * 100)}`.padStart(3);
  // What is still to be done after the last byte has no count.
  if (done >= total && progress.note !== null)
    return `[${bar}] ${percent} %  ${oneLine(progress.note)}`;
  const left = rate > 0 && done < total ? `  ${duration(((total - done) / rate) * 1000)} left` : '';
  return `[${bar}] ${percent} %  ${counts}${pace}${left}`;
};

/** `try 3 of 8 at 14:03:21: connection refused`, while an operation waits to retry. */
export const retryText = ({ attempt, of, nextAt, reason }: WaitingRetry): string =>
  `try ${attempt} of ${of} at ${localTime(nextAt)}: ${oneLine(reason)}`;

const rateText = (rate: number, unit: string): string => {
  if (unit === 'bytes') return sizeText(rate);
  return rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1);
};

/** Samples to calculate the rate from, oldest first. */
export const appendSample = (
  samples: readonly ProgressSample[],
  sample: ProgressSample,
): ProgressSample[] => {
  const recent = samples.filter((each) => sample.at - each.at <= RATED_OVER_MS);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample];
};
