/** How long a text is by the platform's own count. */
export type Measure = (text: string) => number;

const utf16: Measure = (text) => text.length;

/**
 * The text in pieces of at most `most` by that measure: at the end of a line where there is one, else
 * between words, else wherever it must be, but never within a character. The pieces joined are the
 * text, less what is blank or no character at all. The measure is never below the length.
 */
export const splitText = (text: string, most: number, measure = utf16): string[] =>
  cutText(wholeCharacters(text), most, measure).filter((piece) => piece.trim() !== '');

/** The same of whole characters, with what is blank. */
export const cutText = (text: string, most: number, measure = utf16): string[] => {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > 0) {
    const end = endOfPiece(rest, most, measure);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces;
};

/** Halves of characters, which no platform takes, become U+FFFD. */
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

/** At least one character, and no half of one. The measure never falls as a text grows. */
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

const isWithinPair = (text: string, at: number): boolean =>
  /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
