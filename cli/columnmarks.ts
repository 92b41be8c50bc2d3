import { graphemesIn } from '../src/kernel/width.js';

/** A style, which takes no columns. */
const STYLE = /(\u001b\[[0-9;]*m)/;
const SUSPECT = /[^\u0000-\u024f\u2010-\u2027\u2190-\u21ff\u2500-\u259f]/;

/**
 * Inserts the next column after each character whose width terminals dispute, such as an emoji
 * with a variation selector. `column` is the column at which the line begins, from 0.
 */
export const withColumnMarks = (line: string, column = 0): string => {
  if (!SUSPECT.test(line)) return line;
  let at = column;
  let out = '';
  for (const piece of line.split(STYLE)) {
    if (piece.startsWith('\u001b')) {
      out += piece;
      continue;
    }
    for (const { text, width, isDisputed } of graphemesIn(piece)) {
      // The blanks clear the old content, because the terminal may fill fewer columns.
      const next = at + width;
      out += isDisputed ? `${' '.repeat(width)}${toColumn(at)}${text}${toColumn(next)}` : text;
      at = next;
    }
  }
  return out;
};

/** CHA of ECMA-48, section 8.3.9: moves the cursor to a column of its line, here from 0. */
const toColumn = (column: number): string => `\u001b[${column + 1}G`;
