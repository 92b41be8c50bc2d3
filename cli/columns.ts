import { cut, oneLine, padded, plain, widthOf } from './text.js';

/** One column of a list. */
export interface Column<T> {
  /** Its name for `--fields`, and its head on a terminal. */
  name: string;
  value(row: T): unknown;
  /** How a person reads it; the plain value unless given. */
  show?(row: T): string;
  /** Set to the right. */
  isNumber?: true;
  /** `data`: not for reading, an id or what another column says in words; `table`: the reverse. */
  only?: 'data' | 'table';
}

const GAP = 2;
const MIN_WIDTH = 8;

/** The value at a dotted path; undefined where there is none. */
export const valueAt = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.entries(value).find(([name]) => name === key)?.[1];
  }, row);

/**
 * The lines of a table with its head, no wider than the terminal. The columns stand in the order
 * of their worth: where they do not fit, the last ones are left out, and then the widest is cut.
 */
export const tableOf = <T>(rows: T[], columns: Column<T>[], width: number): string[] => {
  const all = columns.filter(({ only }) => only !== 'data').map((column) => laidOut(rows, column));
  const kept = fitting(all, width);
  const narrowed = narrow(kept, width);
  return ['', ...rows].map((_, line) =>
    narrowed
      .map(({ cells, width: w, isNumber }) => {
        const shown = cut(cells[line] ?? '', w);
        return isNumber ? ' '.repeat(w - widthOf(shown)) + shown : padded(shown, w);
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
};

interface Laid {
  cells: string[];
  width: number;
  isNumber?: true;
}

const laidOut = <T>(rows: T[], { name, value, show, isNumber }: Column<T>): Laid => {
  const shown = rows.map((row) => oneLine(show ? show(row) : plain(value(row))));
  const cells = [name.toUpperCase().replaceAll('-', ' '), ...shown];
  return { cells, width: Math.max(...cells.map(widthOf)), isNumber };
};

const sum = (columns: Laid[]): number =>
  columns.reduce((total, { width }) => total + width + GAP, -GAP);

/** Columns whose narrowest form fits, from the first on. */
const fitting = (columns: Laid[], width: number): Laid[] => {
  const kept: Laid[] = [];
  for (const column of columns) {
    const least = [...kept, column].map((one) => ({
      ...one,
      width: Math.min(one.width, MIN_WIDTH * 2),
    }));
    if (kept.length > 0 && sum(least) > width) break;
    kept.push(column);
  }
  return kept;
};

const narrow = (columns: Laid[], width: number): Laid[] => {
  const narrowed = columns.map((column) => ({ ...column }));
  while (sum(narrowed) > width) {
    const widest = narrowed.reduce((a, b) => (b.width > a.width ? b : a));
    if (widest.width <= MIN_WIDTH) break;
    widest.width = Math.max(MIN_WIDTH, widest.width - (sum(narrowed) - width));
  }
  return narrowed;
};
