import { padded, wrapped } from '../../cli/text.js';
import { bindings, pageActKeys } from '../keys.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../parts/row.js';
import { screenPage } from '../screens.js';
import { computeBodySize } from '../state/layout.js';
import type { State } from '../state/state.js';

const SHORT: Record<string, string> = {
  enter: 'enter',
  right: '→',
  left: '←',
  up: '↑',
  down: '↓',
  pagedown: 'pgdn',
  pageup: 'pgup',
};

type Entry = readonly [key: string, text: string];

/**
 * Shows the keys and glossary of the page beside the global keys. Text is wrapped; overflow
 * scrolls.
 */
export const helpView = (state: State, size: Size): ScreenRow[] => {
  const { left, columns } = columnsOfHelp(state, size);
  const parts = [left, ...columns];
  const top = Math.min(state.ui.helpTop, countOverflow(parts, size));
  const lines = Array.from({ length: size.height - 1 }, (_, at) =>
    row(...parts.map((part) => renderHelpLine(part, top + at))),
  );
  const title = padded(`Help: ${screenPage(state).title}`, left.width);
  return [row(tonedSpan('strong', title), tonedSpan('muted', 'Everywhere')), ...lines];
};

export const helpOverflow = (state: State): number => {
  const size = computeBodySize(state);
  const { left, columns } = columnsOfHelp(state, size);
  return countOverflow([left, ...columns], size);
};

interface HelpColumn {
  width: number;
  keyWidth: number;
  lines: Entry[];
}

const countOverflow = (parts: HelpColumn[], { height }: Size): number =>
  Math.max(0, Math.max(...parts.map(({ lines }) => lines.length)) - (height - 1));

const columnsOfHelp = (
  state: State,
  { width, height }: Size,
): { left: HelpColumn; columns: HelpColumn[] } => {
  const page = screenPage(state);
  const words: Entry[] = page.glossary
    ? [['', ''], ['Words', 'on this page'], ...page.glossary]
    : [];
  const own: Entry[] = [
    ...pageActKeys(page.name).map(({ key, text }): Entry => [key, text]),
    ...words,
  ];
  const everywhere = bindings
    .filter(({ scope }) => scope === 'everywhere')
    .map(({ keys, text }): Entry => [keysText(keys), text]);
  const most = width >= 120 ? 3 : width >= 80 ? 2 : 1;
  const perColumn = Math.max(height - 1, Math.ceil(everywhere.length / most));
  const columns = split(everywhere, perColumn).map((entries) => {
    const keys = Math.max(...entries.map(([key]) => key.length)) + 1;
    const texts = Math.min(MAX_TEXT, Math.max(...entries.map(([, text]) => text.length)));
    return foldedColumn(entries, keys + texts + 1, keys);
  });
  const rest = width - columns.reduce((sum, each) => sum + each.width, 0);
  return { left: foldedColumn(own, rest, MIN_KEY), columns };
};

/** Columns at which the description of a global key is wrapped. */
const MAX_TEXT = 14;
/** Minimum columns of a key or glossary term. */
const MIN_KEY = 10;

const keysText = (keys: readonly string[]): string =>
  keys.length > 4
    ? `${keys[0]} … ${keys.at(-1)}`
    : keys.map((key) => SHORT[key] ?? key.replace('ctrl-', '^')).join(' ');

const foldedColumn = (entries: Entry[], width: number, keyWidth: number): HelpColumn => ({
  width,
  keyWidth,
  lines: entries.flatMap(([key, text]) => {
    const room = width - 1 - Math.max(keyWidth, key.length + 1);
    // A blank key of the same width indents continuation lines.
    return wrapped(text, Math.max(1, room)).map(
      (line, at): Entry => (at === 0 ? [key, line] : [' '.repeat(key.length), line]),
    );
  }),
});

const renderHelpLine = ({ lines, width, keyWidth }: HelpColumn, at: number): string => {
  const [key, text] = lines[at] ?? ['', ''];
  return padded(`${padded(key, Math.max(keyWidth, key.length + 1))}${text}`, width);
};

const split = <T>(all: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
