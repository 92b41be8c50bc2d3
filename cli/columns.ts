import { cutToWidth, oneLine, plainText, widthOf } from './text.js';
import { colored } from './tone.js';

/** One column of a list. */
export interface TableColumn<T> {
  /** Its name for `--fields`, and its head on a terminal. */
  name: string;
  value(row: T): unknown;
  /** Text for a person; the plain value unless given. */
  show?(row: T): string;
  /** Set to the right. */
  isNumber?: true;
  /** A state, in its colour. */
  isState?: true;
  /** `data`: not for reading, an id or what another column says in words; `table`: the reverse. */
  only?: 'data' | 'table';
}

/** A column that a person reads in another form, as by `ago`; `none` stands for no value. */
export const shownAs = <T, V>(
  name: string,
  value: (row: T) => V,
  show: (value: NonNullable<V>) => string,
  none = '',
): TableColumn<T> => ({
  name,
  value,
  show: (row) => {
    const found = value(row);
    return found === null || found === undefined ? none : show(found);
  },
});

/** Columns that show fields of the row as they are, each under the field's name. */
export const fieldColumns = <K extends string>(
  ...names: K[]
): TableColumn<Partial<Record<K, unknown>>>[] =>
  names.map((name) => ({ name, value: (row) => row[name] }));

const GAP = 2;
const MIN_WIDTH = 8;
/** Characters of a cell that are measured at most. */
const LONGEST = 4000;

/** The value at a dotted path; undefined where there is none. */
export const valueAt = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.entries(value).find(([name]) => name === key)?.[1];
  }, row);

export interface Face {
  /** Columns of the terminal. */
  width: number;
  hasColors: boolean;
}

/**
 * The lines of a table with its head, no wider than the terminal. The columns stand in the order
 * of their worth: where they do not fit, the last ones are left out, and then the widest is cut.
 */
export const tableOf = <T>(rows: T[], columns: TableColumn<T>[], face: Face): string[] => {
  const all = columns.filter(({ only }) => only !== 'data').map((column) => laidOut(rows, column));
  const kept = narrow(fitting(all, face.width), face.width);
  return ['', ...rows].map((_, line) =>
    kept
      .map((column) => drawn(column, line, face))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
};

interface ColumnLayout {
  cells: string[];
  width: number;
  isNumber?: true;
  isState?: true;
}

const laidOut = <T>(
  rows: T[],
  { name, value, show, isNumber, isState }: TableColumn<T>,
): ColumnLayout => {
  const shown = rows.map((row) =>
    oneLine((show ? show(row) : plainText(value(row))).slice(0, LONGEST)),
  );
  const cells = [name.toUpperCase().replaceAll('-', ' '), ...shown];
  return { cells, width: Math.max(...cells.map(widthOf)), isNumber, isState };
};

const drawn = (
  { cells, width, isNumber, isState }: ColumnLayout,
  line: number,
  face: Face,
): string => {
  const shown = cutToWidth(cells[line] ?? '', width);
  const space = ' '.repeat(width - widthOf(shown));
  if (isNumber) return space + shown;
  return (isState && face.hasColors ? colored(shown) : shown) + space;
};

const sum = (columns: ColumnLayout[]): number =>
  columns.reduce((total, { width }) => total + width + GAP, -GAP);

/** Columns whose narrowest form fits, from the first on. */
const fitting = (columns: ColumnLayout[], width: number): ColumnLayout[] => {
  const kept: ColumnLayout[] = [];
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

const narrow = (columns: ColumnLayout[], width: number): ColumnLayout[] => {
  const narrowed = columns.map((column) => ({ ...column, width: Math.min(column.width, width) }));
  while (sum(narrowed) > width) {
    const widest = narrowed.reduce((a, b) => (b.width > a.width ? b : a));
    if (widest.width <= MIN_WIDTH) break;
    widest.width--;
  }
  return narrowed;
};
