import type { Operation } from '../../src/client/index.js';
import { duration } from '../text.js';

const BAR_WIDTH = 20;
/** Ours: before so much time has passed, a rate says nothing. */
const RATED_AFTER_MS = 1000;
/** Ours: the rate is that of the last so many milliseconds, as many begin with a burst. */
const RATED_OVER_MS = 30_000;

type ShownProgress = NonNullable<Operation['progress']>;

/** `2.3 GB`, `850 MB`: in decimal units, as networks and disks count. */
export const sizeText = (bytes: number): string => {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit > 0 && value < 99.95 ? value.toFixed(1) : String(Math.round(value));
  return `${bytes < 0 ? '-' : ''}${digits} ${UNITS[unit]}`;
};

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export const countsOf = ({ done, total, unit }: ShownProgress): string =>
  unit === 'bytes' ? sizesOf(done, total) : plainCounts(done, total, unit);

const sizesOf = (done: number, total: number | null): string =>
  `${sizeText(done)}${total === null ? '' : ` of ${sizeText(total)}`}`;

const plainCounts = (done: number, total: number | null, unit: string): string =>
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
  const pace = rate > 0 ? `  ${rateText(rate, progress.unit)}/s` : '';
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

const rateText = (rate: number, unit: string): string => {
  if (unit === 'bytes') return sizeText(rate);
  return rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1);
};

/** Returns the samples from which the rate follows, the oldest first, with one more. */
export const samplesWith = (
  samples: readonly ProgressSample[],
  sample: ProgressSample,
): ProgressSample[] => {
  const recent = samples.filter((each) => sample.at - each.at <= RATED_OVER_MS);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample];
};
