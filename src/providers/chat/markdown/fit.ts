import { isBlank, type TextLine, type TextRun, textOfRuns } from './lines.js';
import { isWithinPair } from './split.js';

/** The limits of one message of a platform. */
export interface MessageLimits {
  /** The greatest size of a message, in the platform's own count. */
  most: number;
  /**
   * Returns the greatest size that a line can take in a message, with its line end and its marks. It
   * is at least the length of its text, and the size of its runs is the sum of theirs.
   */
  sizeOf(line: TextLine): number;
  /** The limit of the number of styled ranges, if the platform has one, counted in the same way. */
  ranges?: { most: number; countOf(line: TextLine): number };
}

/** The rest of the limits of a message. */
interface Room {
  size: number;
  ranges: number;
}

/**
 * Splits lines into messages that fit: between lines if possible, else between words, else at any
 * character, but never within one, and within an address only if no message can hold it. Blank
 * messages are left out. Code that is split is code in each message.
 */
export const messagesOf = (lines: readonly TextLine[], limits: MessageLimits): TextLine[][] => {
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
      // A line that is moved to the next message leaves at most half of this one empty.
      const isMoved = left === null && !isFirst && room.size < limits.most / 2;
      const at: number = left || isMoved ? 0 : placeOfCut(rest, length, isFirst);
      if (left || at > 0 || isFirst) {
        message.push(at > 0 ? headOf(rest, at) : rest);
        rest = at > 0 ? tailOf(rest, at) : null;
      }
      if (left) room = left;
      else end();
    }
  }
  end();
  return messages;
};

/** True for a blank line between blocks, which no message begins or ends with. */
const isGap = (line: TextLine): boolean => line.kind !== 'code' && isBlank(line);

/** The number of characters of a line that fit, and what is left if all of it fits. */
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
    const part = (end: number): Room => minus(left, minus(weigh([partOf(run, 0, end)]), empty));
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

/** So many guesses go by the size of what was tried; the rest halve what is left. */
const GUESSES = 6;

/** Returns the greatest length up to `most` after which something is left; 0 if there is none. */
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

/** Returns the best place at or before the given one: none within an address, else after a word. */
const placeOfCut = (line: TextLine, at: number, isFirst: boolean): number => {
  if (at === 0) return 0;
  const { start, run } = runAt(line.runs, at);
  if (run?.url !== undefined && start < at && (start > 0 || !isFirst)) return start;
  const text = textOfRuns(headOf(line, at + 1).runs);
  const word = text.lastIndexOf(' ', at - 1) + 1;
  if (word > at / 2) return word;
  // A word that is cut before one of these signs would begin as a mention or a command.
  const place = /^[@/]\w/.test(textOfRuns(line.runs).slice(at, at + 2)) ? at - 1 : at;
  const whole = isWithinPair(text, place) ? place - 1 : place;
  return whole > 0 ? whole : at;
};

/** Returns the run in which the character behind that place is, and where the run begins. */
const runAt = (runs: readonly TextRun[], at: number): { start: number; run?: TextRun } => {
  let start = 0;
  for (const run of runs) {
    if (start + run.text.length > at) return { start, run };
    start += run.text.length;
  }
  return { start };
};

/** Returns a part of a run. A part of an address is no link. */
const partOf = ({ url, ...run }: TextRun, start: number, end?: number): TextRun => {
  const text = run.text.slice(start, end);
  return { ...run, text, ...(url !== undefined && text === run.text && { url }) };
};

const headOf = (line: TextLine, length: number): TextLine => {
  const runs: TextRun[] = [];
  let left = length;
  for (const run of line.runs) {
    if (left <= 0) break;
    runs.push(partOf(run, 0, left));
    left -= run.text.length;
  }
  return { ...line, runs };
};

const tailOf = (line: TextLine, from: number): TextLine => {
  let skipped = 0;
  let index = 0;
  while (index < line.runs.length) {
    const length = line.runs[index]?.text.length ?? 0;
    if (skipped + length > from) break;
    skipped += length;
    index++;
  }
  // Copied at once: a line may have very many runs.
  const runs = line.runs.slice(index);
  const [first] = runs;
  if (first) runs[0] = partOf(first, from - skipped);
  return { ...line, marker: null, isBlockStart: false, runs };
};
