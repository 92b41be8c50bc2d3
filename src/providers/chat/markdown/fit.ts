import { isBlank, type TextLine, type TextRun, textOfRuns } from './lines.js';
import { FOLLOWING, graphemeStart } from './split.js';

export interface MessageLimits {
  /** In the platform's own count. */
  most: number;
  /** Upper bound including line end and marks: at least the text length, and additive over runs. */
  sizeOf(line: TextLine): number;
  /** Limit of styled ranges, if the platform has one. */
  ranges?: { most: number; countOf(line: TextLine): number };
}

interface Room {
  size: number;
  ranges: number;
}

/**
 * Splits between lines, else between words, else at a character, and within a URL only if it fits
 * no message. Blank messages are dropped. Split code stays code.
 */
export const splitIntoMessages = (
  lines: readonly TextLine[],
  limits: MessageLimits,
): TextLine[][] => {
  const messages: TextLine[][] = [];
  const whole: Room = { size: limits.most, ranges: limits.ranges?.most ?? 0 };
  let message: TextLine[] = [];
  let room = whole;
  const end = (): void => {
    const last = message.findLastIndex((line) => !isGap(line));
    if (!message.every(isBlank)) messages.push(message.slice(0, last + 1));
    [message, room] = [[], whole];
  };
  for (const line of lines) {
    let rest: TextLine | null = line;
    while (rest && !(message.length === 0 && isGap(rest))) {
      const isFirst = message.length === 0;
      const { length, left } = measured(rest, room, limits);
      // Moving a line leaves at most half of the message empty.
      const isMoved = left === null && !isFirst && room.size < limits.most / 2;
      const at: number = left || isMoved ? 0 : placeOfCut(rest, length, isFirst);
      if (left || at > 0 || isFirst) {
        message.push(at > 0 ? sliceLineHead(rest, at) : rest);
        rest = at > 0 ? sliceLineTail(rest, at) : null;
      }
      if (left) room = left;
      else end();
    }
  }
  end();
  return messages;
};

/** Messages neither begin nor end with such a line. */
const isGap = (line: TextLine): boolean => line.kind !== 'code' && isBlank(line);

interface Measured {
  length: number;
  left: Room | null;
}

const measured = (line: TextLine, room: Room, limits: MessageLimits): Measured => {
  const weigh = (runs: TextRun[]): Room => ({
    size: limits.sizeOf({ ...line, runs }),
    ranges: limits.ranges?.countOf({ ...line, runs }) ?? 0,
  });
  const empty = weigh([]);
  let left = minus(room, empty);
  let length = 0;
  for (const run of line.runs) {
    const part = (end: number): Room => minus(left, minus(weigh([sliceRun(run, 0, end)]), empty));
    const next = run.text.length > left.size ? null : part(run.text.length);
    if (!next || !isLeft(next)) {
      const most = Math.max(0, Math.min(run.text.length - 1, left.size));
      return { length: length + longestFitting(most, part), left: null };
    }
    left = next;
    length += run.text.length;
  }
  return { length, left: isLeft(left) ? left : null };
};

const minus = (a: Room, b: Room): Room => ({ size: a.size - b.size, ranges: a.ranges - b.ranges });

const isLeft = ({ size, ranges }: Room): boolean => size >= 0 && ranges >= 0;

/** Guesses by proportion; then bisection. */
const GUESSES = 6;

const longestFitting = (most: number, leftAfter: (length: number) => Room): number => {
  let [low, high] = [0, most + 1];
  let [above, below] = [leftAfter(0).size, Number.NaN];
  for (let tries = 0; high - low > 1; tries++) {
    const share = tries < GUESSES && below < 0 ? above / (above - below) : 0.5;
    const middle = Math.min(high - 1, Math.max(low + 1, low + Math.floor(share * (high - low))));
    const left = leftAfter(middle);
    if (isLeft(left)) [low, above] = [middle, left.size];
    else [high, below] = [middle, left.size];
  }
  return low;
};

/** Not within a URL, else after a word. */
const placeOfCut = (line: TextLine, at: number, isFirst: boolean): number => {
  if (at === 0) return 0;
  const { start, run } = runAt(line.runs, at);
  if (run?.url !== undefined && start < at && (start > 0 || !isFirst)) return start;
  const text = textOfRuns(sliceLineHead(line, at + FOLLOWING).runs);
  const word = text.lastIndexOf(' ', at - 1) + 1;
  if (word > at / 2) return word;
  // A word cut before these signs would become a mention or a command.
  const place = /^[@/]\w/.test(textOfRuns(line.runs).slice(at, at + 2)) ? at - 1 : at;
  const whole = graphemeStart(text, place);
  return whole > 0 ? whole : at;
};

const runAt = (runs: readonly TextRun[], at: number): { start: number; run?: TextRun } => {
  let start = 0;
  for (const run of runs) {
    if (start + run.text.length > at) return { start, run };
    start += run.text.length;
  }
  return { start };
};

/** A part of a URL is not a link. */
const sliceRun = ({ url, ...run }: TextRun, start: number, end?: number): TextRun => {
  const text = run.text.slice(start, end);
  return { ...run, text, ...(url !== undefined && text === run.text && { url }) };
};

const sliceLineHead = (line: TextLine, length: number): TextLine => {
  const runs: TextRun[] = [];
  let left = length;
  for (const run of line.runs) {
    if (left <= 0) break;
    runs.push(sliceRun(run, 0, left));
    left -= run.text.length;
  }
  return { ...line, runs };
};

const sliceLineTail = (line: TextLine, from: number): TextLine => {
  let skipped = 0;
  let index = 0;
  while (index < line.runs.length) {
    const length = line.runs[index]?.text.length ?? 0;
    if (skipped + length > from) break;
    skipped += length;
    index++;
  }
  // Copied once: a line may have very many runs.
  const runs = line.runs.slice(index);
  const [first] = runs;
  if (first) runs[0] = sliceRun(first, from - skipped);
  return { ...line, marker: null, isBlockStart: false, runs };
};
