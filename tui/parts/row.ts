import { cutToWidth, oneLine } from '../../cli/text.js';
import { computeTextWidth, graphemesIn } from '../../src/kernel/width.js';
import type { Theme, Tone } from '../theme.js';

export interface Span {
  text: string;
  tone?: Tone;
}
/** Its text need not be safe: `drawRow` makes it safe. */
export type ScreenRow = readonly Span[];

export interface Size {
  width: number;
  height: number;
}

/** Maximum length of a text that is measured, in UTF-16 units. Measuring more is slow. */
export const MAX_MEASURED_LENGTH = 4000;

export const row = (...parts: (string | Span)[]): ScreenRow =>
  parts.map((part) => (typeof part === 'string' ? { text: part } : part));

export const tonedSpan = (tone: Tone | undefined, text: string): Span => ({ text, tone });

/** Untrusted text, made safe and short enough to be measured. */
export const boundedText = (text: string): string => oneLine(text.slice(0, MAX_MEASURED_LENGTH));

export const plainRowText = (of: ScreenRow): string =>
  of.map(({ text }) => boundedText(text)).join('');

/** The row in reverse video, over the full width. */
export const focusedRow = (of: ScreenRow, width: number): ScreenRow => {
  const text = cutToWidth(plainRowText(of), width);
  return [tonedSpan('focus', text + ' '.repeat(Math.max(0, width - computeTextWidth(text))))];
};

/** Left part, and right part at the end of the row. If both do not fit, the left one is cut. */
export const justify = (left: ScreenRow, right: ScreenRow, width: number): ScreenRow => {
  const end = rowWidth(right);
  const kept = fitRow(left, Math.max(0, width - end - 1));
  const used = rowWidth(kept);
  return [...kept, { text: ' '.repeat(Math.max(0, width - used - end)) }, ...right];
};

export const rowWidth = (of: ScreenRow): number => computeTextWidth(plainRowText(of));

/** Cuts a row to a width and makes its text safe. `…` marks a cut. */
export const fitRow = (of: ScreenRow, width: number): ScreenRow => {
  const kept: Span[] = [];
  let left = width;
  for (const { text, tone } of of) {
    const shown = cutToWidth(boundedText(text), left);
    if (left > 0) kept.push({ text: shown, tone });
    left -= computeTextWidth(boundedText(text));
    if (left < 0) break;
  }
  return kept;
};

/** Text for the terminal: safe, styled and exactly as wide as its place. */
export const drawRow = (of: ScreenRow, width: number, theme: Theme): string => {
  const parts = fitRow(of, width);
  const used = parts.reduce((sum, { text }) => sum + computeTextWidth(text), 0);
  const styled = parts.map(({ text, tone }) => {
    const shown = theme.isAscii ? plainGlyphs(text) : text;
    return tone && shown !== '' ? theme.style(tone, shown) : shown;
  });
  return styled.join('') + ' '.repeat(Math.max(0, width - used));
};

const GLYPHS: Record<string, string> = {
  '─': '-',
  '│': '|',
  '├': '|',
  '└': '`',
  '→': '>',
  '…': '~',
  '·': '.',
  '±': '+',
};
const BARS = '▁▂▃▄▅▆▇█';

/** Replaces each non-ASCII character with ASCII characters of the same width. */
const plainGlyphs = (text: string): string => {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(graphemesIn(text), ({ text: glyph, width }) => {
    if (/^[\x20-\x7e]$/.test(glyph)) return glyph;
    const bar = BARS.indexOf(glyph);
    if (bar >= 0) return '_.-=+*#@'[bar] ?? '_';
    return GLYPHS[glyph] ?? '?'.repeat(width);
  }).join('');
};
