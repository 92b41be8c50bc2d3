import * as s from '../kernel/contract/schema.js';
import type { ToolContext } from './tool.js';

export const offsetInput = () =>
  s.optional(
    s
      .integer(0, 10_000_000)
      .description(
        'Start position, in characters. Defaults to 0. To read on, pass truncated.nextOffset.',
      ),
  );

interface Paging {
  /** Key of the text in the result. */
  key: string;
  /** Other fields of the result, which count towards the limit. */
  beside: Record<string, unknown>;
  offset?: number | undefined;
  /** Maximum characters of one part. */
  most: number;
  /** False if a repeated call would repeat an effect. */
  isRepeatable: boolean;
}

/**
 * If the text continues, `truncated` has `missingChars` and `nextOffset` in UTF-16 units. The whole
 * text is redacted first, because a cut could hide a secret. Surrogate pairs are never split.
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
/** Characters that a final redaction may add. */
const MARGIN = 256;

/** Moves back if the position splits a surrogate pair. */
const boundary = (text: string, at: number): number => {
  const isLow = /[\udc00-\udfff]/.test(text.charAt(at));
  return isLow && /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
};

/** At most `most` characters, and `room` characters of JSON. */
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
    // At least one character, so that reading always progresses.
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
