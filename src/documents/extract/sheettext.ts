import { ExtractFailed, type Extraction } from './job.js';

export interface SheetText {
  /** `column` starts at 0. `times` repeats the text in the following columns. */
  cell(column: number, text: string, times?: number): void;
  /** `times` is the number of repetitions of the row. */
  endRow(times?: number): void;
  /** True if the maximum length of a page is reached. */
  isFull(): boolean;
  text(): string;
}

interface SheetOptions {
  name: string;
  isNamed: boolean;
  mostChars: number;
}

/**
 * A formula with an empty string may show nothing, which is stored like a missing result. A shared
 * formula has no text here.
 */
export const hasResult = (formula: string): boolean => !formula.includes('""');

export const noteFormulas = ({ note }: Extraction, count: number): void => {
  if (count === 0) return;
  const some = count === 1 ? '1 formula has' : `${count} formulas have`;
  note(`${some} no stored result. Open the file in a spreadsheet program and save it.`);
};

/** Maximum size of a sheet in Excel, and in LibreOffice by default. */
const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;

export const createSheetText = ({ name, isNamed, mostChars }: SheetOptions): SheetText => {
  const lines: string[] = [];
  let chars = 0;
  let row: string[] = [];
  // One separator per cell is counted, also after the last one.
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
