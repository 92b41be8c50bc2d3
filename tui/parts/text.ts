import { wrapped } from '../../cli/text.js';
import type { Tone } from '../theme.js';
import { boundedText, row, type ScreenRow, type Size, tonedSpan } from './row.js';

/** Maximum number of characters shown of a text. `P` prints no more either. */
export const MAX_CHARACTERS = 262_144;

/** Lines of a text, each wrapped, or left as one row that is cut when drawn. */
export const textRows = (
  text: string,
  width: number,
  isWrapped: boolean,
  tone?: Tone,
): ScreenRow[] =>
  capped(text)
    .split('\n')
    .flatMap((line) => (isWrapped ? wrapped(boundedText(line), Math.max(8, width)) : [line]))
    .map((line) => row(tonedSpan(tone, line)));

export const jsonRows = (value: unknown, width: number, isWrapped: boolean): ScreenRow[] =>
  textRows(JSON.stringify(value ?? null, null, 2), width, isWrapped);

/** Names and values. Long values continue on the next row. */
export const factRows = (
  facts: readonly (readonly [string, string])[],
  width: number,
): ScreenRow[] => {
  const wide = Math.max(0, ...facts.map(([name]) => name.length)) + 2;
  return facts.flatMap(([name, value]) => {
    const lines = value
      .split('\n')
      .flatMap((line) => wrapped(boundedText(line), Math.max(8, width - wide)));
    return lines.map((line, at) =>
      row(tonedSpan('muted', (at === 0 ? name : '').padEnd(wide)), line),
    );
  });
};

export const scrolledRows = (
  rows: readonly ScreenRow[],
  scroll: number,
  { height }: Size,
): ScreenRow[] => {
  const start = Math.max(0, Math.min(scroll, rows.length - height));
  return rows.slice(start, start + height);
};

const capped = (text: string): string =>
  text.length <= MAX_CHARACTERS
    ? text
    : `${text.slice(0, MAX_CHARACTERS)}\n… ${text.length - MAX_CHARACTERS} more characters`;

/** `1 user`, `3 users`, `1,204 executions`. */
export const countedNoun = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`;

export const formatDollars = (usd: number): string => `$${usd.toFixed(2)}`;

export const inlineValue = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
};
