import { cutToWidth, padded, widthOf } from '../../cli/text.js';
import { type Tone, toneOf } from '../theme.js';
import { clean, focused, type Row, row, type Size, type Span, toned } from './row.js';

/** One column of a list on the screen. The columns stand in the order in which they are read. */
export interface Column<T> {
  head: string;
  text(item: T): string;
  /** Where it is read aloud, and the text would be heard as something else. */
  said?(item: T): string;
  /** A state: toned by its first word. */
  isState?: true;
  tone?(item: T): Tone | undefined;
  isNumber?: true;
  /** The least columns that say something; what is wider is cut to it where the room is short. */
  least: number;
  most: number;
  /** Those with the highest rank go first where they do not fit; 0 stays. */
  rank: number;
}

export interface Chosen {
  /** Index of the chosen row; -1: none. */
  at: number;
  /** The keys move something else. */
  isQuiet?: boolean;
}

/** One row, column by column, nothing of it cut. */
export interface Cells {
  id: string;
  cells: readonly { head: string; text: string }[];
}

/** The same rows for whom they are read aloud. */
export const cellsOf = <T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  idOf: (item: T) => string,
): Cells[] =>
  items.map((item) => ({
    id: idOf(item),
    cells: columns.map(({ head, text, said = text }) => ({ head, text: said(item) })),
  }));

const MARK = 2;
const GAP = 2;

/** The head, and the window of the rows in which the chosen one is. */
export const tableRows = <T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  { width, height }: Size,
  chosen: Chosen,
): Row[] => {
  const { start, end } = windowOf(items.length, chosen.at, height - 1);
  const shown = items.slice(start, end);
  const laid = layOut(shown, columns, width - MARK);
  const head = row(
    '  ',
    ...laid.map(({ column, wide }, at) => cellOf(column.head, wide, at, laid)),
  );
  return [
    head.map(({ text }) => toned('muted', text)),
    ...shown.map((item, index) => {
      const isChosen = start + index === chosen.at;
      const cells = laid.map(({ column, wide }, at) => toneCell(column, item, wide, at, laid));
      const line = row(isChosen ? '> ' : '  ', ...cells);
      return isChosen && !chosen.isQuiet ? focused(line, width) : line;
    }),
  ];
};

/** Rows from `start` to before `end`, with the chosen one among them. */
export const windowOf = (
  count: number,
  chosen: number,
  height: number,
): { start: number; end: number } => {
  const room = Math.max(0, height);
  const middle = Math.max(0, chosen) - Math.floor(room / 2);
  const start = Math.max(0, Math.min(middle, count - room));
  return { start, end: Math.min(count, start + room) };
};

interface Laid<T> {
  column: Column<T>;
  wide: number;
}

const layOut = <T>(
  shown: readonly T[],
  columns: readonly Column<T>[],
  width: number,
): Laid<T>[] => {
  let kept = columns.map((column) => ({ column, wide: wanted(shown, column) }));
  while (kept.length > 1 && total(kept.map(least)) > width) {
    const worst = kept.reduce((a, b) => (b.column.rank >= a.column.rank ? b : a));
    if (worst.column.rank === 0) break;
    kept = kept.filter((each) => each !== worst);
  }
  while (total(kept) > width) {
    const widest = kept.reduce((a, b) => (spare(b) > spare(a) ? b : a));
    if (widest.wide <= 1) break;
    widest.wide -= 1;
  }
  return kept;
};

const wanted = <T>(shown: readonly T[], { head, text, least: min, most }: Column<T>): number => {
  const cells = shown.map((item) => widthOf(clean(text(item))));
  return Math.min(most, Math.max(min, head.length, ...cells));
};
const least = <T>({ column, wide }: Laid<T>): Laid<T> => ({
  column,
  wide: Math.min(wide, column.least),
});
const spare = <T>({ column, wide }: Laid<T>): number => wide - column.least;
const total = <T>(laid: Laid<T>[]): number =>
  laid.reduce((sum, { wide }) => sum + wide + GAP, -GAP);

const toneCell = <T>(
  column: Column<T>,
  item: T,
  wide: number,
  at: number,
  laid: Laid<T>[],
): Span => {
  const text = column.text(item);
  const tone = column.isState ? toneOf(text) : column.tone?.(item);
  return toned(tone, cellOf(text, wide, at, laid, column.isNumber).text);
};

const cellOf = <T>(
  text: string,
  wide: number,
  at: number,
  laid: Laid<T>[],
  isNumber = laid[at]?.column.isNumber,
): Span => {
  const shown = cutToWidth(clean(text), wide);
  const gap = at < laid.length - 1 ? ' '.repeat(GAP) : '';
  const space = ' '.repeat(Math.max(0, wide - widthOf(shown)));
  return { text: (isNumber ? space + shown : padded(shown, wide)) + gap };
};
