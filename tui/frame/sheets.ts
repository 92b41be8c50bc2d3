import { cutToWidth, wrapped } from '../../cli/text.js';
import {
  boundedText,
  focusedRow,
  row,
  type ScreenRow,
  type Size,
  tonedSpan,
} from '../parts/row.js';
import { computeVisibleRange } from '../parts/table.js';
import { pages, screenPage } from '../screens.js';
import { MIN_SIZE, PALETTE_ROWS, TEXT_ROWS } from '../state/layout.js';
import { findPaletteMatches, type Match } from '../state/palette.js';
import type { State } from '../state/state.js';

export const sheetView = (state: State, size: Size): ScreenRow[] => {
  const { sheet, secret, field } = state.ui;
  const rule = row(tonedSpan('muted', '─'.repeat(size.width)));
  if (secret) {
    const value = wrapped(boundedText(secret.value), size.width - 2);
    const title = row(tonedSpan('strong', secret.title));
    return [rule, title, ...value.map((line) => row('  ', line))];
  }
  if (sheet) {
    const lines = (sheet.act.ask?.lines ?? []).map((line) => row(tonedSpan('strong', line)));
    if (sheet.act.ask?.writes) return [rule, ...lines, ...typedRows(state, size.width)];
    const name = sheet.act.ask?.name;
    const how =
      name === undefined
        ? '  y confirm     enter, n, esc: cancel'
        : `  type ${name} and press enter     esc cancel`;
    return [rule, ...lines, row(how)];
  }
  return field?.for === 'palette' ? [rule, ...paletteRows(state, size.width)] : [];
};

/** Shows the lines of a message except the one being typed, which is in the message line. */
const typedRows = ({ ui: { field } }: State, width: number): ScreenRow[] => {
  const lines = (field?.text ?? '').split('\n');
  const at = (field?.text ?? '').slice(0, field?.at).split('\n').length - 1;
  return lines
    .filter((_, index) => index !== at)
    .slice(-TEXT_ROWS)
    .map((line) => row('  ', cutToWidth(boundedText(line), width - 2)));
};

const paletteRows = (state: State, width: number): ScreenRow[] => {
  const matches = shownMatches(state);
  if (matches.length === 0) return [row(tonedSpan('muted', '  no matches'))];
  const chosen = Math.min(state.ui.field?.chosen ?? 0, matches.length - 1);
  const { start, end } = computeVisibleRange(matches.length, chosen, PALETTE_ROWS);
  return matches.slice(start, end).map(({ text, line }, at) => {
    const isChosen = start + at === chosen;
    const entry = row(isChosen ? '> ' : '  ', text, '   ', tonedSpan('muted', line));
    return isChosen ? focusedRow(entry, width) : entry;
  });
};

export const shownMatches = (state: State): Match[] =>
  findPaletteMatches(state, screenPage(state), pages, state.ui.field?.text ?? '');

export const sizeView = (_: State, { width, height }: Size): ScreenRow[] => {
  const { width: columns, height: rows } = MIN_SIZE;
  return [row(`Adjutant needs ${columns}x${rows}; this is ${width}x${height}. q quits.`)];
};
