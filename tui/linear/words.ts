import { type ScreenRow, textOf } from '../parts/row.js';
import type { Cells } from '../parts/table.js';
import { counted } from '../parts/text.js';

/** Column heads that add nothing to their values. They are left out of the first column. */
const UNNAMED = ['NAME', 'TITLE', 'WHAT', 'KIND', 'TIME', 'DEVICE'];
/** Heads of columns with words that people chose, which are read as they stand. */
const CHOSEN = ['NAME', 'TITLE', 'SUBJECT', 'FROM', 'TO', 'SNIPPET', 'ADDRESS'];
const UNITS: Record<string, string> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

/**
 * Returns the text as it is to be read aloud: glyphs and short times become words, and a comma
 * replaces the space between columns.
 */
export const spokenText = (text: string): string =>
  text
    .trim()
    .replaceAll('→', 'to')
    .replace(/ {2,}/g, ', ')
    .replace(/(?<=^|\s)(\d+)([smhd])(?=$|[\s,])/g, (_, count: string, unit: string) =>
      counted(Number(count), UNITS[unit] ?? unit),
    );

/**
 * Returns a row as a line, `2. deploy-notify, state enabled, last ERROR 2 minutes`, without the
 * cells that are empty or `-`.
 */
export const rowLine = (number: number, { cells }: Cells): string => {
  const sentence = cells
    .map(({ head, text }, at) => ({
      name: at === 0 && UNNAMED.includes(head) ? '' : `${head.toLowerCase()} `,
      text: spokenCell(head, text.trim()),
    }))
    .filter(({ text }) => text !== '' && text !== '-');
  return `${number}. ${sentence.map(({ name, text }) => name + text).join(', ')}`;
};

/** Returns the columns of one row, each on a line of its own. */
export const cellLines = ({ cells }: Cells): string[] =>
  cells
    .filter(({ text }) => text.trim() !== '')
    .map(({ head, text }) => `${head.toLowerCase()}: ${spokenCell(head, text.trim())}`);

const spokenCell = (head: string, text: string): string =>
  CHOSEN.includes(head) ? text : spokenText(text);

/** The bar of an operation. It is left out: the share behind it says the same. */
const METER = /\[[#·]{20}\] +(?=\d+ %)/g;

/** Returns rows with the desk's own text as lines to be read aloud. */
export const headLines = (rows: readonly ScreenRow[]): string[] =>
  rows.map((row) => spokenText(textOf(row).replace(METER, ''))).filter((line) => line !== '');

/** Width for texts, in columns: so wide that rows are not wrapped, unless a value is longer. */
export const WIDE = 1000;
/** The space between the two ends of a wide row. */
const GAP = / {20,}/g;

/**
 * A row of bars only. It is left out: the line above it says in words what the bars show, and their
 * peak.
 */
const BARS = /^[▁-█ ]+$/;

/** Returns the rows of a text: the words as they are, without what is only drawn. */
export const textLines = (rows: readonly ScreenRow[]): string[] =>
  rows
    .map((row) => textOf(row).trimEnd().replace(METER, ''))
    .map((line) => line.replace(GAP, ', ').replace(/─+/g, '--'))
    .filter((line) => !BARS.test(line));

/** Returns rows in which nothing may be changed. */
export const exactLines = (rows: readonly ScreenRow[]): string[] =>
  rows.map((row) => textOf(row).trimEnd());
