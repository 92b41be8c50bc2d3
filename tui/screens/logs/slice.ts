import type { LogEntry } from '../../../src/client/index.js';
import type { Item } from '../../page.js';
import { type LogRow, rowsOf } from '../../state/lists.js';
import { LEVELS } from '../../state/logs.js';
import { fits } from '../../state/selection.js';
import type { State } from '../../state/state.js';
import { type Look, lookOf } from '../../state/ui.js';

/** The lines of the log, and which of them are shown; pure. */

const bare = /^[^\s"=]+$/;

const said = (value: unknown): string =>
  typeof value === 'string' && bare.test(value) ? value : JSON.stringify(value);

/** Returns the fields of a line: `hook=github-issues ms=3`. */
export const logFields = ({ data }: LogEntry): string =>
  Object.entries(data)
    .map(([name, value]) => `${name}=${said(value)}`)
    .join(' ');

/** Items by row. A row never changes, and a filter searches every line each time it is drawn. */
const items = new WeakMap<LogRow, Item>();

const itemOf = (row: LogRow, entry: LogEntry): Item => {
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

/** Returns the lines that the filter leaves. A gap is always left. */
export const shownLines = ({ lists, ui }: State): LogRow[] => {
  const { filter } = lookOf(ui);
  const rows = rowsOf(lists.logs);
  if (filter === '') return rows;
  return rows.filter((row) => row.is === 'gap' || fits(itemOf(row, row.entry), filter));
};

/** Returns the level below or above the current one; no change after the last one. */
export const levelsFrom = ({ ui }: State, step: 1 | -1): Partial<Look> => {
  const at = LEVELS.indexOf(lookOf(ui).leastLevel);
  const leastLevel = LEVELS[at - step];
  return leastLevel ? { leastLevel, scroll: 0, isFollowing: true } : {};
};
