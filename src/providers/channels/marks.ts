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
  const whole = wholeCharacters(text);
  let start = 0;
  return cutText(whole, layout.most, layout.measure)
    .map((piece) => {
      const from = start;
      start += piece.length;
      return { text: piece, marks: marks.flatMap((mark) => clipped(mark, from, start)) };
    })
    .filter((piece) => piece.text.trim() !== '');
};

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
  let at = 0;
  for (const line of text.split('\n')) {
    const style = marks.find(({ start, end }) => start <= at && at < end)?.style ?? 'text';
    const last = blocks.at(-1);
    if (last?.style === style) last.text += `\n${line}`;
    else blocks.push({ style, text: line });
    at += line.length + 1;
  }
  return blocks;
};

const clipped = ({ style, start, end }: Mark, from: number, to: number): Mark[] => {
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
