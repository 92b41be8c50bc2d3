import { ExtractFailed, type Extraction } from './job.js';

/** Collects the text of one sheet: a line of each row that has text, with tabs between its cells. */
export interface SheetText {
  /** Adds a cell to the row, at a column counted from 0, and the same text in the ones beside it. */
  cell(column: number, text: string, times?: number): void;
  /** Ends the row, which stands so many times in the sheet. */
  endRow(times?: number): void;
  /** True once there is more text than a page may have. The rest is left out. */
  isFull(): boolean;
  /** Returns the text below the name of the sheet; '' if it has no text. */
  text(): string;
}

interface SheetOptions {
  name: string;
  /** True if the name stands above the text. */
  isNamed: boolean;
  mostChars: number;
}

/**
 * True for a formula that shows something: one with an empty text in it may show nothing, which
 * programs store as they store no result. One that repeats that of another cell has no text here.
 */
export const hasResult = (formula: string): boolean => !formula.includes('""');

/** Notes that formulas are shown in place of the results that their program has not stored. */
export const noteFormulas = ({ note }: Extraction, count: number): void => {
  if (count === 0) return;
  const some = count === 1 ? '1 formula has' : `${count} formulas have`;
  note(`${some} no stored result. Open the file in a spreadsheet program and save it.`);
};

/** The largest sheet of Excel, and of LibreOffice by default. */
const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;

/** Creates the text of a sheet. It throws ExtractFailed for cells where no program has any. */
export const createSheetText = ({ name, isNamed, mostChars }: SheetOptions): SheetText => {
  const lines: string[] = [];
  let chars = 0;
  let row: string[] = [];
  // Each cell counts one more, the last one too, after which nothing stands.
  const isFull = (): boolean => chars > mostChars + 1;
  const refuse = (what: string): never => {
    const sentence = `Sheet "${name.slice(0, 100)}" has text in ${what}`;
    throw new ExtractFailed('too_large', sentence);
  };
  const add = (text: string): void => {
    row.push(text);
    chars += text.length + 1;
  };

  const endRow = (times = 1): void => {
    const cells = row;
    row = [];
    if (cells.length === 0) return;
    if (times > MAX_ROWS) refuse(`${times} rows. The maximum is ${MAX_ROWS}`);
    const line = cells.join('\t');
    lines.push(line);
    for (let count = 1; count < times && !isFull(); count++) {
      lines.push(line);
      chars += line.length + 1;
    }
  };

  return {
    cell: (column, text, times = 1) => {
      const shown = text.slice(0, mostChars + 1).replace(/[\r\n\t]+/g, ' ');
      if (shown.trim() === '') return;
      const last = column + times;
      if (last > MAX_COLUMNS) refuse(`${last} columns. The maximum is ${MAX_COLUMNS}`);
      while (row.length < column) add('');
      for (let count = 0; count < times && !isFull(); count++) add(shown);
    },
    endRow,
    isFull,
    text: () => {
      // A sheet may be full in the middle of a row.
      endRow();
      if (lines.length === 0) return '';
      return [...(isNamed ? [`# ${name}`] : []), ...lines].join('\n');
    },
  };
};
