import { UNSPACED } from '../../kernel/searchwords.js';

/** A text, and the places in it where pages begin, if it has any. */
export interface TextToSplit {
  text: string;
  pages: { number: number; start: number }[];
}

/** A piece of a text. Successive ones may overlap, and together they are the whole text. */
export interface SplitChunk {
  start: number;
  text: string;
  /** The headings above it, the outermost first. */
  heading: string | null;
  page: number | null;
}

export interface SplitChunks {
  chunks: SplitChunk[];
}

/** Ours: the words from which on a chunk ends at a paragraph, and those that it has at most. */
const ENOUGH_WORDS = 200;
const MAX_WORDS = 400;
/** Ours: a section that is shorter than this shares a chunk with the next one. */
const SHORT_SECTION = 60;
/** Ours: the most words of a chunk that the next one repeats. */
const OVERLAP_WORDS = 40;
/** Ours: a sentence without an end is cut after so many characters. */
const MAX_CHARS = 2000;

/** A sentence, a heading, or a part of what has no sentences. Each begins where the last one ends. */
interface Unit {
  from: number;
  to: number;
  words: number;
  begins: 'page' | 'section' | 'paragraph' | 'sentence';
  heading: string | null;
  page: number | null;
}

/**
 * Splits a text by its structure: at pages always, at headings, then at paragraphs, and within these
 * at sentences. A text without a word has no chunks.
 */
export const splitIntoChunks = (given: TextToSplit): SplitChunks => {
  const { text } = given;
  const chunks: SplitChunk[] = [];
  let current: Unit[] = [];
  let words = 0;

  const end = (repeats: boolean): void => {
    const [first] = current;
    const last = current.at(-1);
    if (first && last && words > 0) {
      const piece = text.slice(first.from, last.to);
      chunks.push({ start: first.from, text: piece, heading: first.heading, page: first.page });
    }
    const repeated = repeats ? overlapOf(current) : [];
    current = repeated;
    words = wordsIn(repeated);
  };

  for (const unit of unitsOf(given)) {
    if (unit.begins === 'page') end(false);
    else if (unit.begins === 'section' && words >= SHORT_SECTION) end(false);
    else if (unit.begins === 'paragraph' && words >= ENOUGH_WORDS) end(true);
    else if (words + unit.words > MAX_WORDS) end(true);
    current.push(unit);
    words += unit.words;
  }
  end(false);
  return { chunks };
};

const wordsIn = (units: Unit[]): number => units.reduce((sum, { words }) => sum + words, 0);

/** Returns the last sentences of a chunk, as many as the next one repeats. */
const overlapOf = (units: Unit[]): Unit[] => {
  let from = units.length;
  let words = 0;
  while (from > 1) {
    words += units[from - 1]?.words ?? 0;
    if (words > OVERLAP_WORDS) break;
    from--;
  }
  return units.slice(from);
};

const PARAGRAPH = /\n[ \t]*\n\s*/g;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/m;
const SENTENCE = /(?<![.!?…])[.!?…]+["'”’)\]]*\s+|[。！？]+["'”’」』]*\s*|\n/g;

const unitsOf = function* ({ text, pages }: TextToSplit): Generator<Unit> {
  const parts = pages.length > 0 ? pages : [{ number: null, start: 0 }];
  const headings: { level: number; title: string }[] = [];
  for (const [at, { number: page, start }] of parts.entries()) {
    const to = parts[at + 1]?.start ?? text.length;
    let begins: Unit['begins'] = 'page';
    for (const [from, until] of piecesOf(text, start, to, PARAGRAPH)) {
      const paragraph = text.slice(from, until);
      const found = HEADING.exec(paragraph.slice(0, MAX_CHARS));
      const isHeading = found !== null && paragraph.slice(0, found.index).trim() === '';
      if (isHeading) pushHeading(headings, found[1]?.length ?? 1, titleIn(found[2] ?? ''));
      const heading = headings.map(({ title }) => title).join(' › ') || null;
      if (begins !== 'page') begins = isHeading ? 'section' : 'paragraph';
      for (const [first, last] of piecesOf(text, from, until, SENTENCE)) {
        for (const [cut, end] of cutLong(text, first, last)) {
          const words = countWords(text.slice(cut, end));
          yield { from: cut, to: end, words, begins, heading, page };
          begins = 'sentence';
        }
      }
    }
  }
};

/** Returns the text of a heading without the number signs that may close it (CommonMark 0.31, 4.2). */
const titleIn = (line: string): string => {
  const text = line.trimEnd();
  let to = text.length;
  while (text[to - 1] === '#') to--;
  const isClosed = to < text.length && /[ \t]/.test(text[to - 1] ?? '');
  return (isClosed ? text.slice(0, to) : text).trimEnd();
};

/** The most characters of a heading that are kept. */
const MAX_HEADING_LENGTH = 200;

const pushHeading = (
  headings: { level: number; title: string }[],
  level: number,
  title: string,
): void => {
  while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
  headings.push({ level, title: title.slice(0, MAX_HEADING_LENGTH) });
};

/** Splits a part of a text behind each match; nothing is left out. */
const piecesOf = function* (
  text: string,
  from: number,
  to: number,
  behind: RegExp,
): Generator<[number, number]> {
  const part = text.slice(from, to);
  let start = 0;
  for (const { 0: found, index } of part.matchAll(behind)) {
    const end = index + found.length;
    if (end >= part.length) break;
    yield [from + start, from + end];
    start = end;
  }
  if (start < part.length) yield [from + start, to];
};

/** Cuts what is too long for a sentence, at a space if there is one. */
const cutLong = function* (text: string, from: number, to: number): Generator<[number, number]> {
  let start = from;
  while (to - start > MAX_CHARS) {
    const space = text.lastIndexOf(' ', start + MAX_CHARS);
    const end = space > start + MAX_CHARS / 2 ? space + 1 : wholeAt(text, start + MAX_CHARS);
    yield [start, end];
    start = end;
  }
  yield [start, to];
};

/** Goes one back if a place is within a character of two code units. */
const wholeAt = (text: string, at: number): number =>
  /[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at;

/** Counts words; in scripts without spaces two characters count as one. */
const countWords = (text: string): number => {
  const spaced = text.replace(UNSPACED, ' ').match(/\S+/g)?.length ?? 0;
  const unspaced = text.match(UNSPACED)?.join('').length ?? 0;
  const long = Math.floor(text.length / 40);
  return Math.max(spaced + Math.ceil(unspaced / 2), long);
};
