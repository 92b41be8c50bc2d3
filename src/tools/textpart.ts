import * as s from '../kernel/contract/schema.js';
import type { ToolContext } from './tool.js';

/** Returns the schema of the argument `offset`, with which a text is read on. */
export const offsetInput = () =>
  s.optional(
    s
      .whole(0, 10_000_000)
      .description(
        'Position in the text at which to begin, in characters. Defaults to 0. To read on, pass ' +
          'truncated.nextOffset of the previous result.',
      ),
  );

interface Paging {
  /** The name of the text in the result. */
  key: string;
  /** The rest of the result, which takes up room as well. */
  beside: Record<string, unknown>;
  offset?: number | undefined;
  /** The most characters of one part. */
  most: number;
  /** False if a repeated call would have a second effect, so that nothing can be read on. */
  isRepeatable: boolean;
}

/**
 * Returns a result with the part of a text that begins at the offset. If the text goes on,
 * `truncated` has `missingChars` and `nextOffset`, both in UTF-16 code units; `nextOffset` is null
 * if no more of it can be had. The part is as long as the tool allows and as the caller
 * can read. Secrets are redacted in the whole text first, since a cut through one would hide
 * it from redaction. A character of two code units is never split.
 */
export const textPart = async (
  text: string,
  { key, beside, offset = 0, most, isRepeatable }: Paging,
  { redact, longestResult }: Pick<ToolContext, 'redact' | 'longestResult'>,
): Promise<Record<string, unknown>> => {
  const whole = redact ? await redact(text) : text;
  const from = boundary(whole, Math.min(offset, whole.length));
  const frame = { ...beside, [key]: '', truncated: { missingChars: LONG, nextOffset: LONG } };
  const room = (longestResult ?? Number.POSITIVE_INFINITY) - JSON.stringify(frame).length - MARGIN;
  const until = boundary(whole, endWithin(whole, from, { most, room }));
  const missingChars = whole.length - until;
  const nextOffset = isRepeatable ? until : null;
  return {
    ...beside,
    [key]: whole.slice(from, until),
    ...(missingChars > 0 && { truncated: { missingChars, nextOffset } }),
  };
};

const LONG = 9_999_999;
/** Ours: the characters by which a last redaction may lengthen a result. */
const MARGIN = 256;

/** Returns the position itself, or the one before it if it is in the middle of a character. */
const boundary = (text: string, at: number): number => {
  const isLow = /[\udc00-\udfff]/.test(text.charAt(at));
  return isLow && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
};

/**
 * Returns the end of the longest part from there that has at most `most` characters, and at most
 * `room` in JSON.
 */
const endWithin = (
  text: string,
  from: number,
  { most, room }: { most: number; room: number },
): number => {
  const end = Math.min(text.length, from + most);
  if (room >= most * MAX_ESCAPE_LENGTH) return end;
  let left = room;
  for (let at = from; at < end; at++) {
    left -= lengthInJson(text.charCodeAt(at));
    // A part has at least one character, so that reading on comes to an end.
    if (left < 0) return Math.max(at, from + 2);
  }
  return end;
};

const MAX_ESCAPE_LENGTH = 6;
const SHORT_ESCAPES = new Set(Array.from('"\\\b\f\n\r\t', (letter) => letter.charCodeAt(0)));

const lengthInJson = (unit: number): number => {
  if (SHORT_ESCAPES.has(unit)) return 2;
  return unit < 0x20 ? MAX_ESCAPE_LENGTH : 1;
};
