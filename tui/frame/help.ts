import { cutToWidth, padded } from '../../cli/text.js';
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
  const parts = [left, ...split(right, Math.max(room, Math.ceil(right.length / most)))];
  const each = Math.floor(width / parts.length);
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

const cellOf = (line: readonly [string, string] | undefined, width: number): string => {
  if (!line) return padded('', width);
  const [key, text] = line;
  const wide = Math.max(10, key.length + 2);
  return padded(cutToWidth(`${padded(key, wide)}${text}`, width - 1), width);
};

const split = <T>(all: T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
