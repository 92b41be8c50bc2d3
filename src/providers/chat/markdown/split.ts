/** Returns the length of a text in the platform's own count. */
export type Measure = (text: string) => number;

const utf16: Measure = (text) => text.length;

/**
 * Splits a text into pieces of at most `most` by that measure: at the end of a line if possible,
 * else between words, else at any character, but never within one. The joined pieces are the text
 * without blank pieces and without invalid characters. The measure is never below the length.
 */
export const splitText = (text: string, most: number, measure = utf16): string[] => {
  const pieces: string[] = [];
  let rest = wholeCharacters(text);
  while (rest.length > 0) {
    const end = endOfPiece(rest, most, measure);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces.filter((piece) => piece.trim() !== '');
};

/** Replaces lone surrogates, which no platform accepts, by U+FFFD. */
export const wholeCharacters = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');

const endOfPiece = (text: string, most: number, measure: Measure): number => {
  const fits = longestFitting(text, most, measure);
  if (fits === text.length) return fits;
  const head = text.slice(0, fits);
  const line = head.lastIndexOf('\n') + 1;
  // A break far from the end would make many short messages of one long line.
  if (line > fits / 2) return line;
  const word = head.lastIndexOf(' ') + 1;
  return word > fits / 2 ? word : fits;
};

/**
 * Returns the longest fitting length: at least one character, and never half of one. The measure
 * never falls as a text grows.
 */
const longestFitting = (text: string, most: number, measure: Measure): number => {
  let low = 1;
  let high = Math.min(text.length, most);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(text.slice(0, middle)) <= most) low = middle;
    else high = middle - 1;
  }
  return isWithinPair(text, low) ? low + (low > 1 ? -1 : 1) : low;
};

/** True if the place is between the two halves of one character. */
export const isWithinPair = (text: string, at: number): boolean =>
  /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
