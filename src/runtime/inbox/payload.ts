import Bourne from '@hapi/bourne';

const DEEPEST = 64;

/**
 * Whether the text is a JSON object or array that is nested at most 64 deep. One with a `__proto__`
 * key is none, as for every other endpoint: it could change what reads it later.
 */
export const isPayload = (text: string): boolean => {
  if (depthOf(text) > DEEPEST) return false;
  try {
    const value: unknown = Bourne.parse(text);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
};

/** Depth of brackets outside of strings, found without recursion and before anything is parsed. */
const depthOf = (text: string): number => {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > deepest) deepest = depth;
        if (deepest > DEEPEST) return deepest;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
    }
  }
  return deepest;
};

const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
};

const isEscaped = (text: string, at: number): boolean => {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++;
  return backslashes % 2 === 1;
};
