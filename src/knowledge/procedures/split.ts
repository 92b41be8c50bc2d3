import { UNSPACED } from '../../kernel/searchwords.js';

export interface TextToSplit {
  text: string;
  pages: { number: number; start: number }[];
}

/** Successive chunks may overlap. Together they cover the whole text. */
export interface SplitChunk {
  start: number;
  text: string;
  /** Headings above the chunk, outermost first. */
  heading: string | null;
  page: number | null;
}

export interface SplitChunks {
  chunks: SplitChunk[];
}

/** A chunk ends at a paragraph after this number of words, and at the maximum in any case. */
const TARGET_WORDS = 200;
const MAX_WORDS = 400;
/** A shorter section shares a chunk with the next one. */
const SHORT_SECTION = 60;
const OVERLAP_WORDS = 40;
/** A longer sentence is cut. */
const MAX_CHARS = 2000;

interface Unit {
  from: number;
  to: number;
  words: number;
  begins: 'page' | 'section' | 'paragraph' | 'sentence';
  heading: string | null;
  page: number | null;
}

/**
 * Splits at pages, at headings, then at paragraphs and sentences. A text without words has no
 * chunks.
 */
export const splitIntoChunks = (input: TextToSplit): SplitChunks => {
  const { text } = input;
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
    const repeated = repeats ? pickOverlap(current) : [];
    current = repeated;
    words = wordsIn(repeated);
  };

  for (const unit of splitUnits(input)) {
    if (unit.begins === 'page') end(false);
    else if (unit.begins === 'section' && words >= SHORT_SECTION) end(false);
    else if (unit.begins === 'paragraph' && words >= TARGET_WORDS) end(true);
    else if (words + unit.words > MAX_WORDS) end(true);
    current.push(unit);
    words += unit.words;
  }
  end(false);
  return { chunks };
};

const wordsIn = (units: Unit[]): number => units.reduce((sum, { words }) => sum + words, 0);

const pickOverlap = (units: Unit[]): Unit[] => {
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

const splitUnits = function* ({ text, pages }: TextToSplit): Generator<Unit> {
  const parts = pages.length > 0 ? pages : [{ number: null, start: 0 }];
  const headings: { level: number; title: string }[] = [];
  for (const [at, { number: page, start }] of parts.entries()) {
    const to = parts[at + 1]?.start ?? text.length;
    let begins: Unit['begins'] = 'page';
    for (const [from, until] of splitRanges(text, start, to, PARAGRAPH)) {
      const paragraph = text.slice(from, until);
      const found = HEADING.exec(paragraph.slice(0, MAX_CHARS));
      const isHeading = found !== null && paragraph.slice(0, found.index).trim() === '';
      if (isHeading) pushHeading(headings, found[1]?.length ?? 1, titleIn(found[2] ?? ''));
      const heading = headings.map(({ title }) => title).join(' › ') || null;
      if (begins !== 'page') begins = isHeading ? 'section' : 'paragraph';
      for (const [first, last] of splitRanges(text, from, until, SENTENCE)) {
        for (const [cut, end] of cutLong(text, first, last)) {
          const words = countWords(text.slice(cut, end));
          yield { from: cut, to: end, words, begins, heading, page };
          begins = 'sentence';
        }
      }
    }
  }
};

/** Removes closing number signs (CommonMark 0.31, 4.2). */
const titleIn = (line: string): string => {
  const text = line.trimEnd();
  let to = text.length;
  while (text[to - 1] === '#') to--;
  const isClosed = to < text.length && /[ \t]/.test(text[to - 1] ?? '');
  return (isClosed ? text.slice(0, to) : text).trimEnd();
};

const MAX_HEADING_LENGTH = 200;

const pushHeading = (
  headings: { level: number; title: string }[],
  level: number,
  title: string,
): void => {
  while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
  headings.push({ level, title: title.slice(0, MAX_HEADING_LENGTH) });
};

const splitRanges = function* (
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

/** Avoids splitting a surrogate pair. */
const wholeAt = (text: string, at: number): number =>
  /[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at;

/** In scripts without spaces, two characters count as one word. */
const countWords = (text: string): number => {
  const spaced = text.replace(UNSPACED, ' ').match(/\S+/g)?.length ?? 0;
  const unspaced = text.match(UNSPACED)?.join('').length ?? 0;
  const long = Math.floor(text.length / 40);
  return Math.max(spaced + Math.ceil(unspaced / 2), long);
};
