import type { ChannelMessage, PlatformBody } from './platform.js';
import { cutText, type Measure, wholeCharacters } from './split.js';

/** Text with the ranges that have a style. Marks are in order and do not overlap. */
export interface Marked {
  text: string;
  marks: Mark[];
}

export interface Mark {
  /** The style; `code` covers whole lines. */
  style: 'title' | 'code';
  start: number;
  end: number;
}

export interface Layout {
  /** The text between the title and the body. */
  between: string;
  most: number;
  measure?: Measure;
}

/**
 * Splits the message into pieces that fit, like `splitText`. The title is marked, and so is code
 * between fences, without the lines of the fences. Code that is split is marked in both pieces. In
 * a question nothing is read as a fence, since every character counts.
 */
export const markedPieces = (message: ChannelMessage, layout: Layout): Marked[] => {
  const { text, marks } = markedOf(message, layout.between);
  const pieces: Marked[] = [];
  let [start, first] = [0, 0];
  for (const piece of cutText(wholeCharacters(text), layout.most, layout.measure)) {
    const end = start + piece.length;
    const within: Mark[] = [];
    // The last mark may continue in the next piece.
    while (first < marks.length && startOf(marks, first) < end) {
      within.push(...clipped(marks[first], start, end));
      if (endOf(marks, first) > end) break;
      first++;
    }
    if (piece.trim() !== '') pieces.push({ text: piece, marks: within });
    start = end;
  }
  return pieces;
};

const startOf = (marks: Mark[], at: number): number => marks[at]?.start ?? 0;
const endOf = (marks: Mark[], at: number): number => marks[at]?.end ?? 0;

export const hasFences = (text: string): boolean =>
  text.split('\n').some((line) => FENCE.test(line));

export interface StyledBlock {
  style: Mark['style'] | 'text';
  /** Adjacent lines of that style. */
  text: string;
}

/**
 * Returns the blocks of a piece, each beginning on a new line. Joined by line ends they are the
 * piece.
 */
export const blocksOf = ({ text, marks }: Marked): StyledBlock[] => {
  const blocks: StyledBlock[] = [];
  let [at, next] = [0, 0];
  for (const line of text.split('\n')) {
    while (next < marks.length && endOf(marks, next) <= at) next++;
    const mark = marks[next];
    const style = mark && mark.start <= at ? mark.style : 'text';
    const last = blocks.at(-1);
    if (last?.style === style) last.text += `\n${line}`;
    else blocks.push({ style, text: line });
    at += line.length + 1;
  }
  return blocks;
};

/** Returns the parts of a message with further properties in the last one. */
export const withLast = (parts: PlatformBody[], more: PlatformBody): PlatformBody[] => [
  ...parts.slice(0, -1),
  { ...parts.at(-1), ...more },
];

const clipped = (of: Mark | undefined, from: number, to: number): Mark[] => {
  if (!of) return [];
  const { style, start, end } = of;
  const mark = { style, start: Math.max(start, from) - from, end: Math.min(end, to) - from };
  return mark.start < mark.end ? [mark] : [];
};

const markedOf = ({ title, text, question }: ChannelMessage, between: string): Marked => {
  const body = question ? { text, marks: [] } : codeIn(text);
  if (!title) return body;
  const head = body.text === '' ? title : `${title}${between}`;
  const moved = body.marks.map((mark) => ({
    ...mark,
    start: mark.start + head.length,
    end: mark.end + head.length,
  }));
  return {
    text: head + body.text,
    marks: [{ style: 'title', start: 0, end: title.length }, ...moved],
  };
};

/**
 * The opening line of a code fence, as in CommonMark: it ends with a fence at least as long, or
 * with the text. The name of a language may follow, which is not shown. Ours: with more than a name
 * the line is text.
 */
const FENCE = /^ {0,3}(`{3,})[\w+#.-]{0,30}[ \t\r]*$/;

const codeIn = (text: string): Marked => {
  const lines: string[] = [];
  const marks: Mark[] = [];
  let fence: { length: number; start: number } | null = null;
  let length = 0;
  const close = (start: number): void => {
    const end = length - 1;
    if (end > start) marks.push({ style: 'code', start, end });
  };
  for (const line of text.split('\n')) {
    const [, ticks] = FENCE.exec(line) ?? [];
    const isEnd = fence && ticks && ticks.length >= fence.length && /^[ `]*\s*$/.test(line);
    if (fence && isEnd) {
      close(fence.start);
      fence = null;
    } else if (!fence && ticks) fence = { length: ticks.length, start: length };
    else {
      lines.push(line);
      length += line.length + 1;
    }
  }
  if (fence) close(fence.start);
  return { text: lines.join('\n'), marks };
};

/** U+200B, zero width space. */
const HIDDEN = '\u200b';

/**
 * Returns the text so that the platform makes no address in it a link. Platforms fetch links for a
 * preview, and the author of untrusted text could have put a secret into the address. The text
 * looks the same.
 */
export const unlinked = (text: string): string =>
  text
    .replace(/:(?=\/\/)/g, `:${HIDDEN}`)
    .replace(/(?<![\p{L}\p{N}])www\d{0,3}(?=\.)/giu, `$&${HIDDEN}`);
