import type { ScreenRow } from '../parts/row.js';
import { textOf } from '../parts/row.js';
import type { Cells } from '../parts/table.js';
import { counted } from '../parts/words.js';

/** Heads that say nothing that their column does not. */
const UNNAMED = ['NAME', 'WHAT', 'KIND', 'TIME', 'DEVICE'];
const UNITS: Record<string, string> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

/** As it is read aloud: glyphs and short times as words, and a comma where columns stood apart. */
export const heard = (text: string): string =>
  text
    .trim()
    .replaceAll('→', 'to')
    .replace(/ {2,}/g, ', ')
    .replace(/(?<=^|\s)(\d+)([smhd])(?=$|[\s,])/g, (_, count: string, unit: string) =>
      counted(Number(count), UNITS[unit] ?? unit),
    );

/** `2. deploy-notify, state enabled, last ERROR 2 minutes`; what says nothing is left out. */
export const rowLine = (number: number, { cells }: Cells): string => {
  const said = cells
    .map(({ head, text }, at) => ({
      name: at === 0 && UNNAMED.includes(head) ? '' : `${head.toLowerCase()} `,
      text: text.trim(),
    }))
    .filter(({ text }) => text !== '' && text !== '-');
  return `${number}. ${said.map(({ name, text }) => name + heard(text)).join(', ')}`;
};

/** Every column of one row on a line of its own. */
export const cellLines = ({ cells }: Cells): string[] =>
  cells
    .filter(({ text }) => text.trim() !== '')
    .map(({ head, text }) => `${head.toLowerCase()}: ${heard(text)}`);

/** Rows of our own words. */
export const headLines = (rows: readonly ScreenRow[]): string[] =>
  rows.map((row) => heard(textOf(row))).filter((line) => line !== '');

/** Wider than this no row is broken, and narrower no value. */
export const WIDE = 1000;
/** A place that was kept free of the other end of a wide row. */
const GAP = / {20,}/g;

/** Bars alone; the line above them says in words what they are of, and their peak. */
const BARS = /^[▁-█ ]+$/;

/** Rows of a text: their words as they are, without what only draws. */
export const textLines = (rows: readonly ScreenRow[]): string[] =>
  rows
    .map((row) => textOf(row).trimEnd().replace(GAP, ', ').replace(/─+/g, '--'))
    .filter((line) => !BARS.test(line));

/** Rows of which nothing may be changed. */
export const exactLines = (rows: readonly ScreenRow[]): string[] =>
  rows.map((row) => textOf(row).trimEnd());
