export type Measure = (text: string) => number;

const utf16: Measure = (text) => text.length;

/**
 * Splits at line ends, else between words, else at a character. Joined, the pieces are the text
 * without blank pieces and invalid characters. `measure` is at least the length.
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

/** Replaces lone surrogates by U+FFFD. */
export const wholeCharacters = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');

const endOfPiece = (text: string, most: number, measure: Measure): number => {
  const fits = longestFitting(text, most, measure);
  if (fits === text.length) return fits;
  const head = text.slice(0, fits);
  const line = head.lastIndexOf('\n') + 1;
  // A distant break would split one long line into many short messages.
  if (line > fits / 2) return line;
  const word = head.lastIndexOf(' ') + 1;
  return word > fits / 2 ? word : fits;
};

/** At least one character. `measure` is monotonic. */
const longestFitting = (text: string, most: number, measure: Measure): number => {
  let low = 1;
  let high = Math.min(text.length, most);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(text.slice(0, middle)) <= most) low = middle;
    else high = middle - 1;
  }
  const start = graphemeStart(text, low);
  return start > 0 ? start : low + (isWithinPair(text, low) ? 1 : 0);
};

let segmenter: Intl.Segmenter | undefined;

/** Enough of the following text to recognize a grapheme that a cut would divide. */
export const FOLLOWING = 16;

/** Returns where to cut instead, so that a letter keeps its marks and an emoji its parts. */
export const graphemeStart = (text: string, at: number): number => {
  segmenter ??= new Intl.Segmenter();
  const start = segmenter.segment(text.slice(0, at + FOLLOWING)).containing(at)?.index ?? at;
  // A letter may have so many marks that they fill the message.
  return start > at / 2 ? start : at - (isWithinPair(text, at) ? 1 : 0);
};

const isWithinPair = (text: string, at: number): boolean =>
  /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
