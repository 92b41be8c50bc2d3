import { styleText } from 'node:util';
import { computeTextWidth } from '../src/kernel/width.js';
import { withColumnMarks } from './columnmarks.js';
import { ago, cutToWidth, localTime, oneLine, plainText } from './text.js';

/** Colours of states. The word itself carries the meaning, too. */
const TONES: [Parameters<typeof styleText>[0], string[]][] = [
  ['red', ['error', 'failed', 'failing', 'expired', 'down', 'interrupted']],
  ['yellow', ['stopped', 'warn', 'due', 'unknown', 'paused', 'waiting_approval']],
  ['yellow', ['disabled', 'unverified']],
  ['magenta', ['untrusted']],
  ['cyan', ['running']],
  ['green', ['success', 'completed', 'ok', 'verified']],
  ['bold', ['new']],
];

const colored = (text: string): string => {
  const first = /^\w+/.exec(text)?.[0] ?? '';
  const tone = TONES.find(([, words]) => words.includes(first));
  return tone ? styleText(tone[0], text, { validateStream: false }) : text;
};

export interface TableColumn<T> {
  /** Name for `--fields`, and header on a terminal. */
  name: string;
  value(row: T): unknown;
  /** Text on a terminal. Defaults to the plain value. */
  show?(row: T): string;
  /** Whether the values are right-aligned. */
  isNumber?: true;
  /** Whether the value is a state, which is coloured. */
  isState?: true;
  /** Whether the value is never truncated, such as an address. */
  isWhole?: true;
  /** Whether a terminal shows the column only if a row has a value. */
  isRare?: true;
  /** Field of one object that a terminal shows as this column. */
  replaces?: string;
  /** `data`: only in a pipe, such as an id; `table`: only on a terminal. */
  only?: 'data' | 'table';
  /** Order in which a narrow terminal drops columns. The highest number is dropped first. */
  leaves?: number;
}

/** Returns the columns so that a narrow terminal drops the named ones first, in that order. */
export const withDropOrder = <T>(names: string[], columns: TableColumn<T>[]): TableColumn<T>[] =>
  columns.map((column) => {
    const at = names.indexOf(column.name);
    return at < 0 ? column : { ...column, leaves: names.length - at };
  });

/**
 * Creates a column with another form on a terminal, such as `ago`. `none` is shown for no value.
 */
export const formattedColumn = <T, V>(
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

export const reasonColumn = <T extends { error: string | null }>(): TableColumn<T> => ({
  name: 'error',
  value: ({ error }) => error,
  isRare: true,
  only: 'table',
});

type Nested<T> = { [K in keyof T & string]: Inner<T[K], K> }[keyof T & string];
type Inner<V, K extends string> =
  NonNullable<V> extends readonly unknown[]
    ? never
    : NonNullable<V> extends object
      ? `${K}.${keyof NonNullable<V> & string}`
      : never;
/** A field of a row, or a field of an object in it: `stats.executions`. */
type FieldPath<T> = (keyof T & string) | Nested<T>;

const KINDS = {
  data: { only: 'data' },
  state: { isState: true },
  number: { isNumber: true },
  whole: { isWhole: true },
  /** The end of an id is enough to name it in a command. */
  tail: { only: 'table', show: (id) => String(id).slice(-6) },
  ago: { show: (time) => (typeof time === 'string' ? ago(time) : 'never') },
  time: { show: (time) => (typeof time === 'string' ? localTime(time) : '') },
} satisfies Record<string, FieldKind>;

interface FieldKind {
  only?: 'data' | 'table';
  isState?: true;
  isNumber?: true;
  isWhole?: true;
  show?(value: unknown): string;
}

type Kinds = keyof typeof KINDS;

/** `status`, `status:state`, `name=username`, `used=lastUsedAt:ago`. */
type FieldColumn<T> =
  | FieldPath<T>
  | `${FieldPath<T>}:${Kinds}`
  | `${string}=${FieldPath<T>}`
  | `${string}=${FieldPath<T>}:${Kinds}`;

/**
 * The columns of a table in order. A list of fields gives one column per field, named after the
 * field or the part before `=`. The part after the colon is its kind.
 */
export const buildColumns = <T extends object>(
  ...parts: (TableColumn<T> | FieldColumn<NoInfer<T>>[])[]
): TableColumn<T>[] =>
  parts.flatMap((part) => (Array.isArray(part) ? part.map(fieldColumn) : [part]));

const fieldColumn = (field: string): TableColumn<object> => {
  const [, name = '', path = name, kind = ''] =
    /^([^=:]+)(?:=([^:]+))?(?::(\w+))?$/.exec(field) ?? [];
  const found = Object.entries<FieldKind>(KINDS).find(([each]) => each === kind)?.[1] ?? {};
  const { show, ...marks } = found;
  const value = (row: object) => valueAt(row, path);
  return { name, value, ...marks, ...(show && { show: (row: object) => show(value(row)) }) };
};

const GAP = 2;
const MIN_WIDTH = 8;
/** Maximum characters of a cell to measure. */
const MAX_CELL_LENGTH = 4000;

export const valueAt = (row: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined;
    return Object.entries(value).find(([name]) => name === key)?.[1];
  }, row);

export interface TerminalStyle {
  /** In columns. */
  width: number;
  /** Whether the terminal supports escape sequences. */
  hasColors: boolean;
}

export const shownColumns = <T>(
  rows: T[],
  columns: TableColumn<T>[],
  { width }: Pick<TerminalStyle, 'width'>,
): string[] => fitting(layOut(rows, columns), width).map(({ name }) => name);

const layOut = <T>(rows: T[], columns: TableColumn<T>[]): ColumnLayout[] => {
  const isEmpty = ({ value }: TableColumn<T>) => rows.every((row) => plainText(value(row)) === '');
  return columns
    .filter((column) => column.only !== 'data' && !(column.isRare && isEmpty(column)))
    .map((column) => createLayout(rows, column));
};

/**
 * The lines of a table with its header, no wider than the terminal. Columns are in order of
 * importance. If they do not fit, those with `leaves` are dropped, then the last ones, and then
 * the widest is truncated.
 */
export const renderTable = <T>(
  rows: T[],
  columns: TableColumn<T>[],
  face: TerminalStyle,
): string[] => {
  const kept = narrow(fitting(layOut(rows, columns), face.width), face.width);
  const lines = ['', ...rows].map((_, line) =>
    kept
      .map((column) => drawn(column, line, face))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
  return face.hasColors ? lines.map((line) => withColumnMarks(line)) : lines;
};

interface ColumnLayout {
  name: string;
  leaves: number;
  cells: string[];
  width: number;
  isNumber?: true;
  isState?: true;
  isWhole?: true;
}

const createLayout = <T>(
  rows: T[],
  { name, value, show, isNumber, isState, isWhole, leaves = 0 }: TableColumn<T>,
): ColumnLayout => {
  const shown = rows.map((row) =>
    oneLine((show ? show(row) : plainText(value(row))).slice(0, MAX_CELL_LENGTH)),
  );
  const cells = [name.toUpperCase().replaceAll('-', ' '), ...shown];
  const width = Math.max(...cells.map(computeTextWidth));
  return { name, leaves, cells, width, isNumber, isState, isWhole };
};

const drawn = (
  { cells, width, isNumber, isState }: ColumnLayout,
  line: number,
  face: TerminalStyle,
): string => {
  const shown = cutToWidth(cells[line] ?? '', width);
  const space = ' '.repeat(width - computeTextWidth(shown));
  if (isNumber) return space + shown;
  return (isState && face.hasColors ? colored(shown) : shown) + space;
};

const sum = (columns: ColumnLayout[]): number =>
  columns.reduce((total, { width }) => total + width + GAP, -GAP);

/** Returns the columns that fit at their minimum width. */
const fitting = (columns: ColumnLayout[], width: number): ColumnLayout[] => {
  let kept = columns;
  const least = (one: ColumnLayout) => ({
    ...one,
    width: one.isWhole ? one.width : Math.min(one.width, MIN_WIDTH * 2),
  });
  while (kept.length > 1 && sum(kept.map(least)) > width) {
    const worst = kept.reduce((one, other) => (other.leaves >= one.leaves ? other : one));
    kept = kept.filter((each) => each !== worst);
  }
  return kept;
};

/** Truncates the widest columns until they fit, `isUndamaged` columns last. */
const narrow = (columns: ColumnLayout[], width: number): ColumnLayout[] => {
  const narrowed = columns.map((column) => ({ ...column, width: Math.min(column.width, width) }));
  for (const kept of [narrowed.filter(({ isWhole }) => !isWhole), narrowed]) {
    while (sum(narrowed) > width) {
      const [widest] = [...kept].sort((a, b) => b.width - a.width);
      if (!widest || widest.width <= MIN_WIDTH) break;
      widest.width--;
    }
  }
  return narrowed;
};
