import { plainRowText, type ScreenRow } from '../parts/row.js';
import type { Cells } from '../parts/table.js';
import { countedNoun } from '../parts/text.js';

/** Heads that add nothing to their values. Left out of the first column. */
const HEADS_WITHOUT_NAME = ['NAME', 'TITLE', 'WHAT', 'KIND', 'TIME', 'DEVICE'];
/** Columns with words chosen by people, which are read unchanged. */
const VERBATIM_HEADS = ['NAME', 'TITLE', 'SUBJECT', 'FROM', 'TO', 'SNIPPET', 'ADDRESS'];
const UNITS: Record<string, string> = { s: 'second', m: 'minute', h: 'hour', d: 'day' };

/** Text to be read aloud: glyphs and short times become words, column gaps become commas. */
export const spokenText = (text: string): string =>
  text
    .trim()
    .replaceAll('→', 'to')
    .replace(/ {2,}/g, ', ')
    .replace(/(?<=^|\s)(\d+)([smhd])(?=$|[\s,])/g, (_, count: string, unit: string) =>
      countedNoun(Number(count), UNITS[unit] ?? unit),
    );

/**
 * A row as a line, `2. deploy-notify, state enabled, last ERROR 2 minutes`, without empty cells.
 */
export const rowLine = (number: number, { cells }: Cells): string => {
  const sentence = cells
    .map(({ head, text }, at) => ({
      name: at === 0 && HEADS_WITHOUT_NAME.includes(head) ? '' : `${head.toLowerCase()} `,
      text: spokenCell(head, text.trim()),
    }))
    .filter(({ text }) => text !== '' && text !== '-');
  return `${number}. ${sentence.map(({ name, text }) => name + text).join(', ')}`;
};

export const cellLines = ({ cells }: Cells): string[] =>
  cells
    .filter(({ text }) => text.trim() !== '')
    .map(({ head, text }) => `${head.toLowerCase()}: ${spokenCell(head, text.trim())}`);

const spokenCell = (head: string, text: string): string =>
  VERBATIM_HEADS.includes(head) ? text : spokenText(text);

/** Bar of an operation. Left out: the percentage after it says the same. */
const METER = /\[[#·]{20}\] +(?=\d+ %)/g;

export const headLines = (rows: readonly ScreenRow[]): string[] =>
  rows.map((row) => spokenText(plainRowText(row).replace(METER, ''))).filter((line) => line !== '');

/** Width for texts, in columns, so that rows are not wrapped. */
export const WIDE = 1000;
const GAP = / {20,}/g;

/** Row of bars only. Left out: the line above describes it. */
const BARS = /^[▁-█ ]+$/;

/** Rows of a text, without purely graphical parts. */
export const textLines = (rows: readonly ScreenRow[]): string[] =>
  rows
    .map((row) => plainRowText(row).trimEnd().replace(METER, ''))
    .map((line) => line.replace(GAP, ', ').replace(/─+/g, '--'))
    .filter((line) => !BARS.test(line));

/** Rows in which nothing may be changed. */
export const exactLines = (rows: readonly ScreenRow[]): string[] =>
  rows.map((row) => plainRowText(row).trimEnd());
