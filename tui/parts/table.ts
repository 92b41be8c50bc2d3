import { cutToWidth } from '../../cli/text.js';
import { computeTextWidth } from '../../src/kernel/width.js';
import { findStateTone, type Tone } from '../theme.js';
import {
  boundedText,
  focusedRow,
  row,
  type ScreenRow,
  type Size,
  type Span,
  tonedSpan,
} from './row.js';

export interface ScreenColumn<T> {
  head: string;
  text(item: T): string;
  /** Text to be read aloud, if it differs from the shown one. */
  said?(item: T): string;
  /** Whether the text is a state. Its first word gives the tone. */
  isState?: true;
  tone?(item: T): Tone | undefined;
  isNumber?: true;
  /** Minimum useful width. If there is no room, wider columns are cut to it. */
  least: number;
  /** Whether to leave out a text instead of cutting it, and the column if that affects all. */
  isUncut?: true;
  /** Share of the table width up to which texts are not cut. 1 is the whole width. */
  share?: number;
  most: number;
  /** Order in which columns are dropped: highest rank first. 0 is never dropped. */
  rank: number;
}

/** Minimum width, maximum width and rank, see `ScreenColumn`. */
type ColumnRoom = readonly [least: number, most: number, rank: number];

export const column = <T>(
  head: string,
  [least, most, rank]: ColumnRoom,
  text: (item: T) => string,
): ScreenColumn<T> => ({ head, text, least, most, rank });

export const stateColumn = <T>(...given: Parameters<typeof column<T>>): ScreenColumn<T> => ({
  ...column(...given),
  isState: true,
});

export const numberColumn = <T>(...given: Parameters<typeof column<T>>): ScreenColumn<T> => ({
  ...column(...given),
  isNumber: true,
});

/** Does not cut texts up to that share of the table width. */
export const uncutColumn = <T>(column: ScreenColumn<T>, share = 1): ScreenColumn<T> => ({
  ...column,
  share,
});

export interface ChosenRow {
  at: number;
  /** Whether keys act on another pane. The row then has another mark. */
  isQuiet?: boolean;
}

export interface Cells {
  id: string;
  cells: readonly { head: string; text: string }[];
}

export const buildCells = <T>(
  items: readonly T[],
  columns: readonly ScreenColumn<T>[],
  idOf: (item: T) => string,
): Cells[] =>
  items.map((item) => ({
    id: idOf(item),
    cells: columns.map(({ head, text, said = text }) => ({ head, text: said(item) })),
  }));

const MARK = 2;
const GAP = 2;

export const tableRows = <T>(
  items: readonly T[],
  columns: readonly ScreenColumn<T>[],
  { width, height }: Size,
  chosen: ChosenRow,
): ScreenRow[] => {
  const { start, end } = computeVisibleRange(items.length, chosen.at, height - 1);
  const shown = items.slice(start, end);
  const laid = layOut(shown, columns, width - MARK);
  const mark = chosen.isQuiet ? '- ' : '> ';
  const head = laid.map(({ column, wide }) => cellText(column.head, wide, column.isNumber));
  return [
    row(tonedSpan('muted', `  ${head.join(' '.repeat(GAP))}`)),
    ...shown.map((item, index) => {
      const isChosen = start + index === chosen.at;
      const cells = laid.map(({ column, wide }, at) =>
        toneCell(column, item, wide, at < laid.length - 1 ? GAP : 0),
      );
      const line = row(isChosen ? mark : '  ', ...cells);
      return isChosen && !chosen.isQuiet ? focusedRow(line, width) : line;
    }),
  ];
};

/** Visible range, from `start` to before `end`, with the selected row in it. */
export const computeVisibleRange = (
  count: number,
  chosen: number,
  height: number,
): { start: number; end: number } => {
  const room = Math.max(0, height);
  const middle = Math.max(0, chosen) - Math.floor(room / 2);
  const start = Math.max(0, Math.min(middle, count - room));
  return { start, end: Math.min(count, start + room) };
};

interface TableLayout<T> {
  column: ScreenColumn<T>;
  wide: number;
  least: number;
}

const layOut = <T>(
  shown: readonly T[],
  columns: readonly ScreenColumn<T>[],
  width: number,
): TableLayout<T>[] => {
  let kept = columns.map((column) => wanted(shown, column, width));
  while (kept.length > 1 && total(kept.map(({ least }) => least)) > width) {
    const worst = kept.reduce((a, b) => (b.column.rank >= a.column.rank ? b : a));
    if (worst.column.rank === 0) break;
    kept = kept.filter((each) => each !== worst);
  }
  while (total(kept.map(({ wide }) => wide)) > width) {
    const widest = kept.reduce((a, b) => (spare(b) > spare(a) ? b : a));
    if (widest.wide <= 1) break;
    widest.wide -= 1;
  }
  return kept;
};

const wanted = <T>(shown: readonly T[], column: ScreenColumn<T>, width: number): TableLayout<T> => {
  const { head, text, least, most, share = 0 } = column;
  const cells = shown
    .map((item) => computeTextWidth(boundedText(text(item))))
    .filter((cell) => cell > 0);
  const wide = Math.min(most, Math.max(least, head.length, ...cells));
  const useful = column.isUncut
    ? Math.max(least, Math.min(...cells))
    : Math.max(least, Math.floor(width * share));
  return { column, wide, least: Math.min(wide, useful) };
};
const spare = <T>({ wide, least }: TableLayout<T>): number => wide - least;
const total = (widths: number[]): number => widths.reduce((sum, wide) => sum + wide + GAP, -GAP);

const toneCell = <T>(column: ScreenColumn<T>, item: T, wide: number, gap: number): Span => {
  const uncutColumn = column.text(item);
  const text =
    column.isUncut && computeTextWidth(boundedText(uncutColumn)) > wide ? '' : uncutColumn;
  const tone = column.isState ? findStateTone(text) : column.tone?.(item);
  return tonedSpan(tone, cellText(text, wide, column.isNumber) + ' '.repeat(gap));
};

const cellText = (text: string, wide: number, isNumber?: true): string => {
  const shown = cutToWidth(boundedText(text), wide);
  const space = ' '.repeat(Math.max(0, wide - computeTextWidth(shown)));
  return isNumber ? space + shown : shown + space;
};
