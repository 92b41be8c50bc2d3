import { cutToWidth, padded, wrapped } from '../../cli/text.js';
import { actsOf, bindings } from '../keys.js';
import { row, type ScreenRow, type Size, tonedSpan } from '../parts/row.js';
import { screenPage } from '../screens.js';
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

/** Shows the keys of the page on top, and the words that appear on it. */
export const helpView = (state: State, { width, height }: Size): ScreenRow[] => {
  const page = screenPage(state);
  const left = [
    ...actsOf(page.name).map(({ key, text }): [string, string] => [key, text]),
    ...(page.glossary
      ? ([
          ['', ''],
          ['Words', 'you see'],
        ] satisfies [string, string][])
      : []),
    ...(page.glossary ?? []),
  ];
  const right = bindings
    .filter(({ scope }) => scope === 'everywhere')
    .map(({ keys, text }): [string, string] => [keysText(keys), text]);
  const room = height - 1;
  const most = width >= 120 ? 3 : 2;
  const columns = [...split(right, Math.max(room, Math.ceil(right.length / most)))];
  const each = Math.floor(width / (columns.length + 1));
  const folded = left.flatMap((line) => foldedCell(line, each));
  const parts = [folded.length <= room ? folded : left, ...columns];
  const lines = Array.from({ length: room }, (_, at) =>
    row(...parts.map((part) => cellOf(part[at], each))),
  );
  return [
    row(tonedSpan('strong', padded(`Help: ${page.title}`, each)), tonedSpan('muted', 'Everywhere')),
    ...lines,
  ];
};

const keysText = (keys: readonly string[]): string =>
  keys.length > 4
    ? `${keys[0]} … ${keys.at(-1)}`
    : keys.map((key) => SHORT[key] ?? key.replace('ctrl-', '^')).join(' ');

/** Returns the lines of a cell whose text is longer than its column. */
const foldedCell = ([key, text]: readonly [string, string], width: number): [string, string][] =>
  wrapped(text, Math.max(1, width - 1 - keyWidth(key))).map((line, at) =>
    // A blank key of the same width sets the further lines in.
    at === 0 ? [key, line] : [' '.repeat(keyWidth(key) - 2), line],
  );

const keyWidth = (key: string): number => Math.max(10, key.length + 2);

const cellOf = (line: readonly [string, string] | undefined, width: number): string => {
  if (!line) return padded('', width);
  const [key, text] = line;
  return padded(cutToWidth(`${padded(key, keyWidth(key))}${text}`, width - 1), width);
};

const split = <T>(all: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
