import { stripVTControlCharacters } from 'node:util';
import { computeTextWidth } from '../../src/kernel/width.js';
import type { Ended } from './harness.js';

/** What is wrong with how a command answered, a line each; none where all is well. */
export type Faults = string[];

const WIDTH = 80;
/** No more fits beside the name of a fact. */
const MAX_WORD_LENGTH = 40;
const ESCAPE = '\u001b';
/** Progress, that is gone when it is done. */
const REWRITTEN = /^.*\u001b\[K/s;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d/;
const WHOLE_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/;

/** The id of each row; undefined for one that has none. */
export const idsOf = (rows: unknown[]): (string | undefined)[] =>
  rows.map((row) =>
    typeof row === 'object' && row !== null && 'id' in row ? String(row.id) : undefined,
  );

/** Rows as a pipe gets them, held against the reply that they were made of. */
export const ofRows = (stdout: string, rows: unknown[]): Faults => {
  const lines = linesOf(stdout);
  const cells = lines.map((line) => line.split('\t'));
  const ids = idsOf(rows);
  return [
    ...when(rows.length === 0, 'there is nothing to list'),
    ...when(lines.length !== rows.length, `${lines.length} lines for ${rows.length} rows`),
    ...when(new Set(cells.map(({ length }) => length)).size > 1, 'rows of unlike length'),
    ...cells
      .flat()
      .filter((cell) => TIME.test(cell) && !WHOLE_TIME.test(cell))
      .map((cell) => `a part of a time: ${cell}`),
    ...cells
      .flat()
      .filter((cell) => / ago$|…$/.test(cell))
      .map((cell) => `no whole value: ${cell}`),
    ...when(
      ids.some((id, at) => id !== undefined && !cells[at]?.includes(id)),
      'a row without its id',
    ),
  ];
};

/** What no pipe may get. */
export const inPipe = ({ stdout, stderr }: Ended): Faults => [
  ...when(`${stdout}${stderr}`.includes(ESCAPE), 'an escape'),
  ...when(/\? \[y\/N\]|: $/i.test(stderr), `a question: ${stderr}`),
];

/** What does not fit a terminal. A line that is to be copied, or is one word, stays whole. */
export const onTerminal = ({ stdout, stderr }: Ended): Faults =>
  [...linesOf(stdout), ...linesOf(stderr)]
    .map((line) => stripVTControlCharacters(line.replace(REWRITTEN, '')))
    .filter((line) => computeTextWidth(line) > WIDTH && !isLongWord(line) && !isCommand(line))
    .map((line) => `wider than the terminal: ${line}`);

/** A list as a person reads it. */
export const inTable = ({ stdout }: Ended): Faults => {
  const [head = ''] = linesOf(stdout);
  return [
    ...when(!/^[A-Z][A-Z0-9 ]*$/.test(head), `no head: ${head}`),
    ...when(WHOLE_TIME.test(stdout), `a time that nobody reads: ${stdout}`),
  ];
};

/** One value of JSON and no more; undefined where it is none. */
export const jsonIn = (stdout: string): unknown => {
  const lines = linesOf(stdout);
  try {
    return lines.length === 1 ? JSON.parse(lines[0] ?? '') : undefined;
  } catch {
    return undefined;
  }
};

export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export const when = (isWrong: boolean, fault: string): Faults => (isWrong ? [fault] : []);

const isLongWord = (line: string): boolean =>
  line.split(' ').some((word) => computeTextWidth(word) > MAX_WORD_LENGTH);
const isCommand = (line: string): boolean => /\badjutant [a-z]/.test(line);
