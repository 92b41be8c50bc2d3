import type { LogEntry } from '../../src/client/index.js';
import type { Item, ScreenPage, StreamRow } from '../page.js';
import { row, type ScreenRow, tonedSpan } from '../parts/row.js';
import { textRows } from '../parts/text.js';
import { timeOfEvent } from '../parts/times.js';
import { listRows } from '../state/lists.js';
import { LEVELS } from '../state/logs.js';
import type { LogRow } from '../state/rows.js';
import { matchesFilter } from '../state/selection.js';
import type { State } from '../state/state.js';
import { type ScreenView, topView } from '../state/ui.js';
import { findStateTone } from '../theme.js';
import { textPage } from './detail.js';

const EVERY_MS = 1000;
const LEVEL = 6;
const TIME = 13;
const MAX_TEXT_LENGTH = 4000;
const LOUD: readonly LogEntry['level'][] = ['error', 'fatal'];

const bare = /^[^\s"=]+$/;

const formatLogValue = (value: unknown): string =>
  typeof value === 'string' && bare.test(value) ? value : JSON.stringify(value);

const logFields = ({ data }: LogEntry): string =>
  Object.entries(data)
    .map(([name, value]) => `${name}=${formatLogValue(value)}`)
    .join(' ');

/** Cached, because a row never changes and a filter searches every line on each draw. */
const items = new WeakMap<LogRow, Item>();

const getLogItem = (row: LogRow, entry: LogEntry): Item => {
  const known = items.get(row);
  if (known) return known;
  const item = {
    id: row.id,
    name: entry.message,
    words: `${entry.level} ${logFields(entry)}`,
    facts: { level: entry.level },
  };
  items.set(row, item);
  return item;
};

/** Lines that pass the filter. Gaps always pass. */
const shownLines = ({ lists, ui }: State): LogRow[] => {
  const { filter } = topView(ui);
  const rows = listRows(lists.logs);
  if (filter === '') return rows;
  return rows.filter(
    (row) => row.is === 'gap' || matchesFilter(getLogItem(row, row.entry), filter),
  );
};

/** Next level below or above. No change after the last one. */
const levelsFrom = ({ ui }: State, step: 1 | -1): Partial<ScreenView> => {
  const at = LEVELS.indexOf(topView(ui).leastLevel);
  const leastLevel = LEVELS[at - step];
  return leastLevel ? { leastLevel, scroll: 0, isFollowing: true } : {};
};

const logsText = (state: State, width: number): ScreenRow[] => {
  const { isWrapped, isRaw } = topView(state.ui);
  const shape = { width, isWrapped, isRaw, now: state.session.now };
  return shownLines(state).flatMap((line) => lineRows(line, shape));
};

/** Rows with line numbers. A gap has the number of its first missing line. */
const logPieces = (state: State): StreamRow[] => {
  const shape = { width: MAX_TEXT_LENGTH, isWrapped: false, isRaw: false, now: state.session.now };
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

/** Cached rows by line, valid for one layout and day. */
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
  return row(tonedSpan('warn', `  ── ${lines} missing: no longer in memory ──`));
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
      ? row(tonedSpan('muted', head), tonedSpan(findStateTone(level), word), ...part)
      : row(' '.repeat(head.length + LEVEL), ...part),
  );
};

export const logsPage: ScreenPage = {
  ...textPage({
    name: 'logs',
    title: 'Logs',
    noun: 'log',
    list: 'logs',
    text: logsText,
    empty: ({ ui }) => {
      const { leastLevel, filter } = topView(ui);
      return [
        `No lines of level ${leastLevel} and above${filter === '' ? '' : ' match'}.`,
        filter === '' ? '  .  include less important lines' : '  esc  clear the filter',
      ];
    },
    isTail: true,
  }),
  levels: levelsFrom,
  summary: (state) => {
    const { isFollowing, leastLevel } = topView(state.ui);
    const { trouble, loadedAt } = state.lists.logs;
    if (trouble) return loadedAt === null ? '' : `loading failed: ${trouble.message}`;
    const followed = isFollowing ? 'following' : 'not following: f';
    return `${followed}   level ${leastLevel} and above (, less  . more)`;
  },
  glossary: [['gap', 'lines that left the memory of the daemon before they were loaded']],
  needs: ({ ui }) => [{ is: 'list', list: 'logs', of: topView(ui).leastLevel, everyMs: EVERY_MS }],
  stream: logPieces,
};
