import { eastAsianWidth } from 'get-east-asian-width';

/** One column a character, and none that joins another: most of what is ever measured. */
const NARROW = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u2190-\u21ff\u2500-\u259f]*$/;
/** Marks, invisible characters, and the vowels and finals that complete a Hangul syllable. */
const NO_COLUMN =
  /^[\p{Mn}\p{Me}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]$/u;
/** A soft hyphen is ignorable in print, but terminals show it. */
const SOFT_HYPHEN = '\u00ad';
/** An emoji whose variation selector asks for the picture (UTS #51), which is wide. */
const PICTURE = /^\p{Emoji}.*\ufe0f/su;
let segmenter: Intl.Segmenter | undefined;

/** One character as a person sees it, with the columns that it takes in a terminal. */
export interface Grapheme {
  text: string;
  width: number;
  /** True if terminals that add up its code points reach another width. */
  isDisputed: boolean;
}

/** Yields the characters of a text. */
export function* graphemesIn(text: string): Generator<Grapheme> {
  // Made on first use: most texts need none, and it takes as long as a small command.
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) {
    let sum = 0;
    for (const character of segment) sum += columnsOfOne(character);
    const width = PICTURE.test(segment) ? 2 : Math.min(2, sum);
    yield { text: segment, width, isDisputed: width !== sum };
  }
}

/** Returns the columns of a terminal that the text takes, by East Asian Width (UAX #11). */
export const widthOf = (text: string): number => {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesIn(text)) width += grapheme.width;
  return width;
};

const columnsOfOne = (character: string): number => {
  if (character !== SOFT_HYPHEN && NO_COLUMN.test(character)) return 0;
  return eastAsianWidth(character.codePointAt(0) ?? 0);
};
