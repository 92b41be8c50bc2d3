import { safe, wrapped } from '../../cli/text.js';
import { row, type ScreenRow, type Span, tonedSpan } from './row.js';
import { MAX_CHARACTERS } from './text.js';

/** Marked ranges in UTF-16 units, rising and without overlap. */
export type TextMarks = readonly (readonly number[])[];

/** Maximum piece of a line that is wrapped at once, in UTF-16 units. Measuring more is slow. */
const PIECE = 2000;
const LEAST = 8;

interface TextPiece {
  text: string;
  from: number;
}

/** Number of texts whose rows are cached. Each is requested several times per frame. */
const MAX_KEPT = 4;

interface KeptRows {
  text: string;
  marks: string;
  width: number;
  rows: ScreenRow[];
}
const kept: KeptRows[] = [];

/** Untrusted text, made safe and wrapped, with marks. A very long text is cut. */
export const markedRows = (text: string, marks: TextMarks, width: number): ScreenRow[] => {
  const key = JSON.stringify(marks);
  const known = kept.find(
    (each) => each.width === width && each.marks === key && each.text === text,
  );
  if (known) return known.rows;
  const rows = splitLines(text.slice(0, MAX_CHARACTERS))
    .flatMap(splitPieces)
    .flatMap((piece) => wrappedRows(piece, marks, width));
  const more = text.length - MAX_CHARACTERS;
  if (more > 0) rows.push(row(`… ${more.toLocaleString('en')} more characters`));
  kept.unshift({ text, marks: key, width, rows });
  kept.length = Math.min(kept.length, MAX_KEPT);
  return rows;
};

export const markedAt = (rows: readonly ScreenRow[]): number[] =>
  rows.flatMap((each, at) => (each.some(({ tone }) => tone === 'match') ? [at] : []));

/** The marked words, each once. */
export const markedWords = (text: string, marks: TextMarks): string[] => [
  ...new Set(marks.map(([from = 0, to = 0]) => text.slice(from, to))),
];

const splitLines = (text: string): TextPiece[] => {
  let from = 0;
  return text.split('\n').map((line) => {
    const piece = { text: line, from };
    from += line.length + 1;
    return piece;
  });
};

const splitPieces = ({ text, from }: TextPiece): TextPiece[] => {
  const pieces: TextPiece[] = [];
  let at = 0;
  do {
    const end = text.length - at > PIECE ? findPieceEnd(text, at + PIECE) : text.length;
    pieces.push({ text: text.slice(at, end), from: from + at });
    at = end;
  } while (at < text.length);
  return pieces;
};

/** End of a piece: after its last space, or at least not within a character. */
const findPieceEnd = (text: string, maxLength: number): number => {
  const space = text.lastIndexOf(' ', maxLength - 1) + 1;
  if (space > maxLength - PIECE / 2) return space;
  return /[\ud800-\udbff]/.test(text[maxLength - 1] ?? '') ? maxLength - 1 : maxLength;
};

const wrappedRows = (piece: TextPiece, marks: TextMarks, width: number): ScreenRow[] => {
  const spans = safeSpans(piece, marks);
  const whole = spans.map(({ text }) => text).join('');
  let at = 0;
  return wrapped(whole, Math.max(LEAST, width)).map((line) => {
    // Only trailing spaces were dropped before this line.
    const start = whole.indexOf(line, at);
    at = start + line.length;
    return row(...sliced(spans, start, at));
  });
};

/** Splits a piece into safe spans, marked or not. */
const safeSpans = ({ text, from }: TextPiece, marks: TextMarks): Span[] => {
  const spans: Span[] = [];
  let at = 0;
  for (const [begin = 0, end = 0] of marks) {
    const [start, stop] = [Math.max(at, begin - from), Math.min(text.length, end - from)];
    if (stop <= start) continue;
    spans.push(tonedSpan(undefined, safe(text.slice(at, start))));
    spans.push(tonedSpan('match', safe(text.slice(start, stop))));
    at = stop;
  }
  return [...spans, tonedSpan(undefined, safe(text.slice(at)))];
};

/** Part of the spans between two positions of their joined text. */
const sliced = (spans: readonly Span[], from: number, to: number): Span[] => {
  let at = 0;
  return spans.flatMap(({ text, tone }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return part === '' ? [] : [tonedSpan(tone, part)];
  });
};
