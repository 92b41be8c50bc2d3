import { cutToWidth, oneLine, widthOf } from '../../cli/text.js';
import type { Theme, Tone } from '../theme.js';

/** A piece of one row, and what it means. */
export interface Span {
  text: string;
  tone?: Tone;
}
/** One row of the screen. Its text need not be safe: it becomes so when it is drawn. */
export type Row = readonly Span[];

export interface Size {
  width: number;
  height: number;
}

/** Before anything is measured: measuring what is longer takes long. */
const LONGEST = 4000;

export const row = (...parts: (string | Span)[]): Row =>
  parts.map((part) => (typeof part === 'string' ? { text: part } : part));

export const toned = (tone: Tone | undefined, text: string): Span => ({ text, tone });

/** Text from outside, made safe and short enough to be measured. */
export const clean = (text: string): string => oneLine(text.slice(0, LONGEST));

/** A row as plain text, for tests and for the plain terminal. */
export const textOf = (of: Row): string => of.map(({ text }) => clean(text)).join('');

/** The row in reverse, as wide as its place: what a key would act on. */
export const focused = (of: Row, width: number): Row => {
  const text = cutToWidth(textOf(of), width);
  return [toned('focus', text + ' '.repeat(Math.max(0, width - widthOf(text))))];
};

/** The left part, and the right one at the end of the row. The left one gives way. */
export const apart = (left: Row, right: Row, width: number): Row => {
  const end = rowWidth(right);
  const kept = fitted(left, Math.max(0, width - end - 1));
  const used = rowWidth(kept);
  return [...kept, { text: ' '.repeat(Math.max(0, width - used - end)) }, ...right];
};

/** Its columns on the screen. */
export const rowWidth = (of: Row): number => widthOf(textOf(of));

/** Cut to that many columns, its text safe; `…` where something is missing. */
export const fitted = (of: Row, width: number): Row => {
  const kept: Span[] = [];
  let left = width;
  for (const { text, tone } of of) {
    const shown = cutToWidth(clean(text), left);
    if (left > 0) kept.push({ text: shown, tone });
    left -= widthOf(clean(text));
    if (left < 0) break;
  }
  return kept;
};

/** What is sent to the terminal: safe, styled, and exactly as wide as its place. */
export const drawn = (of: Row, width: number, theme: Theme): string => {
  const parts = fitted(of, width);
  const used = parts.reduce((sum, { text }) => sum + widthOf(text), 0);
  const styled = parts.map(({ text, tone }) => {
    const shown = theme.isAscii ? plainGlyphs(text) : text;
    return tone && shown !== '' ? theme.style(tone, shown) : shown;
  });
  return styled.join('') + ' '.repeat(Math.max(0, width - used));
};

const GLYPHS: Record<string, string> = { '─': '-', '│': '|', '→': '>', '…': '~', '·': '.' };
const BARS = '▁▂▃▄▅▆▇█';

/** Every glyph outside ASCII becomes as many characters as it had columns. */
const plainGlyphs = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (glyph) => {
    const bar = BARS.indexOf(glyph);
    if (bar >= 0) return '_.-=+*#@'[bar] ?? '_';
    return GLYPHS[glyph] ?? '?'.repeat(widthOf(glyph));
  });
