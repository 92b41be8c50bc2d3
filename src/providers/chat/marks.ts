import type { ChannelMessage } from './platform.js';
import { cutText, type Measure, wholeCharacters } from './split.js';

/** Text, and where in it something is more than that. Marks stand in order and apart. */
export interface Marked {
  text: string;
  marks: Mark[];
}

export interface Mark {
  /** `code` fills whole lines. */
  style: 'title' | 'code';
  start: number;
  end: number;
}

export interface Layout {
  /** What stands between the title and the text. */
  between: string;
  most: number;
  measure?: Measure;
}

/**
 * The message in pieces that fit, as `splitText` makes them. The title is marked, and so is what
 * stands between fences, whose own lines are no text: code that is cut is code in both pieces. Of a
 * question every character counts, so nothing of it is taken for a fence.
 */
export const markedPieces = (message: ChannelMessage, layout: Layout): Marked[] => {
  const { text, marks } = markedOf(message, layout.between);
  const pieces: Marked[] = [];
  let [start, first] = [0, 0];
  for (const piece of cutText(wholeCharacters(text), layout.most, layout.measure)) {
    const end = start + piece.length;
    const within: Mark[] = [];
    // The mark that ends last may go on in the next piece.
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

export interface Block {
  style: Mark['style'] | 'text';
  /** Lines of that style, all that follow each other. */
  text: string;
}

/** A piece block by block, each beginning a line; joined by line ends they are the piece. */
export const blocksOf = ({ text, marks }: Marked): Block[] => {
  const blocks: Block[] = [];
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
 * As CommonMark has them: a fence ends with one as long, or with the text. Behind the first may
 * stand the name of a language, which is not shown. Ours: with more than a name it is text.
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
