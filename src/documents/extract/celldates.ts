/** Formats of dates and times with a number and no code (ECMA-376-1, 18.8.30). */
const BUILT_IN: [from: number, to: number][] = [
  [14, 22],
  [27, 36],
  [45, 45],
  [47, 47],
  [50, 58],
];

const BUILT_IN_DURATION = 46;

export type CellForm = 'date' | 'duration';

export const builtInForm = (id: number): CellForm | null => {
  if (id === BUILT_IN_DURATION) return 'duration';
  return BUILT_IN.some(([from, to]) => id >= from && id <= to) ? 'date' : null;
};

/** Literal text, escaped characters and text in brackets. */
const LITERAL = /"[^"]*"|[\\_*].|\[[^\]]*\]/g;

/**
 * Returns the form of a format code: a date or time such as `dd/mm/yyyy`, a duration such as
 * `[h]:mm`, or null.
 */
export const formOfCode = (code: string): CellForm | null => {
  if (/\[(h+|m+|s+)\]/i.test(code)) return 'duration';
  const [positive = ''] = code.replace(LITERAL, '').split(';');
  return /[ymdhs]/i.test(positive) && !/general/i.test(positive) ? 'date' : null;
};

const DAY_MS = 86_400_000;
/** Day 0 of each calendar. The 1900 calendar has a February 29, 1900, as day 60. */
const DAY_0 = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) };
const END = Date.UTC(10_000, 0, 1);

/** Returns a date and time such as `2024-03-05 14:30` (ECMA-376-1, 18.17.4), or null. */
export const formatCellDate = (value: string, calendar: keyof typeof DAY_0): string | null => {
  const days = Number(value);
  if (value.trim() === '' || !(days >= 0)) return null;
  const shift = calendar === 1900 && days >= 1 && days < 60 ? DAY_MS : 0;
  const ms = Math.round((days * DAY_MS) / 1000) * 1000 + DAY_0[calendar] + shift;
  if (ms >= END) return null;
  const [date = '', time = ''] = new Date(ms).toISOString().slice(0, 19).split('T');
  const shown = time.endsWith(':00') ? time.slice(0, 5) : time;
  if (days < 1) return shown;
  return Number.isInteger(days) ? date : `${date} ${shown}`;
};

/** Returns a duration such as `27:30:00`, or null. */
export const formatCellDuration = (value: string): string | null => {
  const days = Number(value);
  if (value.trim() === '' || !Number.isFinite(days)) return null;
  const seconds = Math.round(Math.abs(days) * 86_400);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts.map((part) => String(part).padStart(2, '0')).join(':');
  return days < 0 ? `-${shown}` : shown;
};
