import { now } from './clock.js';

const SECOND = 1000;
const UNITS: [string, number][] = [
  ['day', 86_400 * SECOND],
  ['hour', 3_600 * SECOND],
  ['minute', 60 * SECOND],
];

/** `2 minutes ago`; times to come say `in 3 days`. */
export const ago = (time: string): string => {
  const ms = now() - Date.parse(time);
  const unit = UNITS.find(([, length]) => Math.abs(ms) >= length);
  if (!unit) return Math.abs(ms) < 5 * SECOND ? 'just now' : said('second', ms, SECOND);
  return said(unit[0], ms, unit[1]);
};

/** The same for a time that may be missing. */
export const age = (time: string | null): string => (time === null ? 'never' : ago(time));

/** Local time of day, `14:03:21`; with the date where it is not today. */
export const localTime = (time: string): string => {
  const date = new Date(time);
  const clock = date.toLocaleTimeString('en-GB');
  const isToday = date.toDateString() === new Date(now()).toDateString();
  return isToday ? clock : `${dayOf(date)} ${clock}`;
};

/** A duration in words: `0.8 s`, `33 s`, `2 m 05 s`. */
export const duration = (ms: number): string => {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  const seconds = Math.round(ms / SECOND);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`;
};

const said = (unit: string, ms: number, length: number): string => {
  const count = Math.floor(Math.abs(ms) / length);
  const words = `${count} ${unit}${count === 1 ? '' : 's'}`;
  return ms >= 0 ? `${words} ago` : `in ${words}`;
};

const dayOf = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
const two = (value: number): string => String(value).padStart(2, '0');
