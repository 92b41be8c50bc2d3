import type { LogEntry } from '../../../src/client/index.js';
import type { Piece } from '../../page.js';
import { faceOf, facing } from '../../parts/faces.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../../parts/row.js';
import { tailed, textRows } from '../../parts/text.js';
import { timeOfEvent } from '../../parts/times.js';
import type { LogRow } from '../../state/lists.js';
import type { State } from '../../state/state.js';
import { lookOf } from '../../state/ui.js';
import { toneOf } from '../../theme.js';
import { logFields, shownLines } from './slice.js';

const LEVEL = 6;
const TIME = 13;
const LONGEST = 4000;
const LOUD: readonly LogEntry['level'][] = ['error', 'fatal'];

/** Shows the lines of the log, the newest at the bottom. */
export const logsView = (state: State, size: Size): ScreenRow[] => {
  const { leastLevel, filter } = lookOf(state.ui);
  const found = shownLines(state);
  const words = {
    ...facing(state.session, size),
    noun: 'log',
    empty: [
      `No lines of level ${leastLevel} and above${filter === '' ? '' : ' with that in them'}.`,
      filter === '' ? '  .  show less grave ones too' : '  esc  drop the filter',
    ],
  };
  const face = faceOf({ ...state.lists.logs, order: found.map(({ id }) => id) }, words);
  return face ?? tailed(logsText(state, size.width), lookOf(state.ui), size);
};

export const logsText = (state: State, width: number): ScreenRow[] => {
  const { isWrapped, isRaw } = lookOf(state.ui);
  const shape = { width, isWrapped, isRaw, now: state.session.now };
  return shownLines(state).flatMap((line) => lineRows(line, shape));
};

/**
 * Returns the rows, each with the number of its line; a gap has the number of the first missing
 * line.
 */
export const logPieces = (state: State): Piece[] => {
  const shape = { width: LONGEST, isWrapped: false, isRaw: false, now: state.session.now };
  return shownLines(state).flatMap((line) => {
    const number = line.is === 'gap' ? line.from : line.entry.id;
    return lineRows(line, shape).map((row) => ({ number, row }));
  });
};

interface LogShape {
  width: number;
  isWrapped: boolean;
  isRaw: boolean;
  now: number;
}

/** Rows by line of the log. They are valid as long as the layout and the day stay the same. */
const drawn = new WeakMap<LogRow, { key: string; rows: ScreenRow[] }>();

const lineRows = (line: LogRow, shape: LogShape): ScreenRow[] => {
  const key = JSON.stringify({ ...shape, now: new Date(shape.now).toDateString() });
  const known = drawn.get(line);
  if (known?.key === key) return known.rows;
  const rows = line.is === 'gap' ? [gapRow(line.from, line.to)] : entryRows(line.entry, shape);
  drawn.set(line, { key, rows });
  return rows;
};

const gapRow = (from: number, to: number): ScreenRow => {
  const count = to - from + 1;
  const lines = count === 1 ? '1 line is' : `${count} lines are`;
  return row(tonedSpan('warn', `  ── ${lines} missing here: memory holds them no more ──`));
};

const entryRows = (entry: LogEntry, { width, isWrapped, isRaw, now }: LogShape): ScreenRow[] => {
  if (isRaw) return textRows(JSON.stringify(entry), width, isWrapped);
  const { at, level, message } = entry;
  const time = at === null ? '' : `${timeOfEvent(at, now)}.${at.slice(20, 23)}`;
  const word = (LOUD.includes(level) ? level.toUpperCase() : level).padEnd(LEVEL);
  const head = `${time.padEnd(TIME)}${time.length < TIME ? '' : ' '}`;
  const fields = logFields(entry);
  const text = fields === '' ? message : `${message}   ${fields}`;
  const room = width - head.length - LEVEL;
  return textRows(text, room, isWrapped).map((part, index) =>
    index === 0
      ? row(tonedSpan('muted', head), tonedSpan(toneOf(level), word), ...part)
      : row(' '.repeat(head.length + LEVEL), ...part),
  );
};
