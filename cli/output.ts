import { nearest } from '../src/kernel/nearest.js';
import {
  renderTable,
  shownColumns,
  type TableColumn,
  type TerminalStyle,
  valueAt,
} from './columns.js';
import { usageFault } from './exit.js';
import type { CommonFlags, Streams } from './invocation.js';
import {
  cell,
  oneLine,
  padded,
  plainText,
  safe,
  safeJson,
  withHome,
  wrapProse,
  wrapText,
} from './text.js';

export type Format = 'table' | 'tsv' | 'json' | 'id';
export const FORMATS: Format[] = ['table', 'tsv', 'json', 'id'];
const NARROW = 80;
const LOW = 24;
/** Minimum width of a value, however long the names are. */
const NARROWEST = 20;
const GAP = 2;
/** A nested object, which has no spaces to break it at. */
const JSON_PART = /^[{[]/;

export interface OutputPage<T extends object> {
  reply: object;
  rows: T[];
  columns: TableColumn<NoInfer<T>>[];
  /** What other commands take for a row. Defaults to its ID, or its name without one. */
  named?: ((row: NoInfer<T>) => { id: string }) | undefined;
}

/** Results go to stdout, everything else to stderr. A terminal gets a table, a pipe gets data. */
export class CliOutput {
  constructor(
    private readonly streams: Streams,
    private readonly flags: CommonFlags,
  ) {}

  /** `--output` or `--json`; otherwise a table on a terminal and tab-separated values in a pipe. */
  get format(): Format {
    const { output, json } = this.flags;
    if (json && output !== undefined && output !== 'json')
      throw usageFault(`--json cannot be combined with --output ${output}. Pass one of the two.`);
    if (json) return 'json';
    if (output === undefined) return this.isTerminal ? 'table' : 'tsv';
    const format = FORMATS.find((each) => each === output);
    if (!format)
      throw usageFault(`--output must be one of ${FORMATS.join(', ')} (got "${output}")`);
    return format;
  }

  get isChosen(): boolean {
    return this.flags.fields !== undefined;
  }

  get isTerminal(): boolean {
    return this.streams.stdout.isTTY === true;
  }

  private get face(): TerminalStyle {
    const { stdout } = this.streams;
    // Node respects NO_COLOR, FORCE_COLOR and TERM.
    return { width: this.width, hasColors: stdout.hasColors?.() === true };
  }

  get width(): number {
    return this.streams.stdout.columns || NARROW;
  }

  get height(): number {
    return this.streams.stdout.rows || LOW;
  }

  /** Prints a list. An empty list prints nothing on stdout; the caller adds a note. */
  page<T extends object>({ reply, rows, columns, named }: OutputPage<T>): void {
    const idOf = (row: T) => (named ? named(row).id : (valueAt(row, 'id') ?? valueAt(row, 'name')));
    if (this.format === 'json') this.jsonPage(reply, rows, columns);
    else if (this.format === 'id') for (const row of rows) this.line(cell(idOf(row)));
    else if (rows.length > 0) this.table(rows, this.chosen(columns, rows));
  }

  shown<T extends object>({ rows, columns }: Omit<OutputPage<T>, 'reply'>): string[] {
    return shownColumns(rows, this.chosen(columns, rows), this.face);
  }

  /**
   * Prints one object: its fields below each other on a terminal, a row in a pipe. Without
   * columns, a pipe also gets a line of name and value per field.
   */
  item<T extends object>(reply: T, columns: TableColumn<NoInfer<T>>[]): void {
    const fields = Object.entries(flat(reply));
    const isInNoList = columns.length === 0 && !this.flags.fields;
    if (this.format === 'table' && !this.flags.fields)
      this.facts(
        fields.map(([name, value]) => {
          const column = columns.find(({ replaces }) => replaces === name);
          return column
            ? [column.name, plainText(column.value(reply))]
            : [name, formatFieldValue(value)];
        }),
      );
    else if (this.format === 'tsv' && isInNoList)
      for (const [name, value] of fields) this.line(`${cell(name)}\t${cell(value)}`);
    else this.page({ reply, rows: [reply], columns });
  }

  /** Prints the outcome of a verb: a sentence on a terminal, the object in every other format. */
  done<T extends object>(
    sentence: string,
    reply?: T,
    columns: TableColumn<NoInfer<T>>[] = [],
  ): void {
    if (this.format === 'table') this.note(sentence);
    else if (reply) this.item(reply, columns);
  }

  facts(facts: [string, string][]): void {
    const width = Math.max(...facts.map(([name]) => name.length));
    const room = Math.max(this.width - width - GAP, NARROWEST);
    for (const [name, value] of facts) {
      const lines = safe(value)
        .split('\n')
        .flatMap((line) =>
          this.isTerminal && !JSON_PART.test(line) ? wrapText(line, room) : [line],
        );
      const heads = [oneLine(name)];
      for (const [at, line] of lines.entries())
        this.line(`${padded(heads[at] ?? '', width)}${' '.repeat(GAP)}${line}`.trimEnd());
    }
  }

  /** Prints a sentence of a result, folded on a terminal. Continuation lines are indented. */
  sentence(text: string, indent = 0): void {
    const line = oneLine(text);
    for (const each of this.isTerminal ? wrapText(line, this.width, indent) : [line])
      this.line(each);
  }

  /** Prints the reply on one line: unchanged, or an object with the fields of `--fields`. */
  json(value: unknown): void {
    const isPicked = this.isChosen && isObject(value);
    this.line(safeJson(isPicked ? this.picked([], [value])[0] : (value ?? null)));
  }

  /** With `--fields`, each row has only these; the rest of the reply is unchanged. */
  private jsonPage<T extends object>(reply: object, rows: T[], columns: TableColumn<T>[]): void {
    const isList = (value: unknown) => Array.isArray(value) && value.length === rows.length;
    const list = Object.entries(reply).find(([, value]) => isList(value))?.[0];
    if (!this.isChosen || rows.length === 0) this.line(safeJson(reply));
    else if (rows.length === 1 && Object.is(rows[0], reply))
      this.line(safeJson(this.picked(columns, rows)[0]));
    else {
      const picked = this.picked(columns, rows);
      this.line(safeJson(list === undefined ? picked : { ...reply, [list]: picked }));
    }
  }

  /** Fields of the reply keep their values; columns add computed ones. */
  private picked<T extends object>(columns: TableColumn<T>[], rows: T[]): object[] {
    const paths = new Set(rows.flatMap((row) => Object.keys(flat(row))));
    const chosen = this.chosen(
      columns.filter(({ name }) => !paths.has(name)),
      rows,
    );
    return rows.map((row) =>
      Object.fromEntries(chosen.map(({ name, value }) => [name, value(row) ?? null])),
    );
  }

  /** Prints one line of a result. Text from outside must go through safe() or cell() first. */
  line(text: string): void {
    this.streams.stdout.write(`${text}\n`);
  }

  /** Prints a part of a line. Text from outside must go through safe() first. */
  piece(text: string): void {
    this.streams.stdout.write(text);
  }

  /** Prints a note to stderr, unless `--quiet`. */
  note(text: string): void {
    if (!this.flags.quiet) this.warn(text);
  }

  /** Folds a text of several lines on a terminal. */
  folded(text: string): string {
    const lines = text.split('\n');
    if (!this.isTerminal) return text;
    return lines.flatMap((line) => wrapProse(line, this.width)).join('\n');
  }

  /** Prints a note to stderr, even with `--quiet`. A command in it is not broken. */
  warn(text: string): void {
    const { stderr } = this.streams;
    const width = stderr.columns || NARROW;
    const lines = withHome(text, this.flags.home)
      .split('\n')
      .flatMap((line) => (stderr.isTTY ? wrapProse(line, width) : [line]));
    stderr.write(`${lines.join('\n')}\n`);
  }

  private table<T>(rows: T[], columns: TableColumn<T>[]): void {
    if (this.format === 'table') {
      for (const line of renderTable(rows, columns, this.face)) this.line(line);
      return;
    }
    const kept = columns.filter(({ only }) => only !== 'table');
    for (const row of rows) this.line(kept.map(({ value }) => cell(value(row))).join('\t'));
  }

  /** `--fields` names columns, or fields of the reply by path. */
  private chosen<T extends object>(columns: TableColumn<T>[], rows: T[]): TableColumn<T>[] {
    const { fields } = this.flags;
    if (fields === undefined) return columns;
    const known = [...new Set(rows.flatMap((row) => Object.keys(flat(row))))];
    return fields.split(',').map((name) => {
      const column = columns.find((each) => each.name === name);
      if (column) return { ...column, only: undefined, isRare: undefined };
      if (!known.some((path) => path === name || path.startsWith(`${name}.`))) {
        const names = [...columns.map((each) => each.name), ...known];
        const meant = nearest(name, names);
        const question = meant ? ` Did you mean: ${meant}` : '';
        const there = `Fields: ${[...new Set(names)].join(', ')}`;
        throw usageFault(
          `--fields contains an unknown field: "${oneLine(name)}".${question}`,
          there,
        );
      }
      return { name, value: (row) => valueAt(row, name) };
    });
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Joins list items with commas; objects get a line each. */
const formatFieldValue = (value: unknown): string => {
  if (!Array.isArray(value)) return plainText(value);
  const isOfThings = value.some((each) => typeof each === 'object');
  return value.map(plainText).join(isOfThings ? '\n' : ', ');
};

/** Flattens nested objects to dotted names. Lists stay unchanged, and numbers with digits. */
const flat = (value: object, before = ''): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
      isObject(inner) && !('toJSON' in inner)
        ? Object.entries(flat(inner, `${before}${name}.`))
        : [[before + name, inner]],
    ),
  );
