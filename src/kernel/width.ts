import { eastAsianWidth } from 'get-east-asian-width';

/** One column each and no joining, which covers most texts. */
const NARROW = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u2190-\u21ff\u2500-\u259f]*$/;
const NO_COLUMN =
  /^[\p{Mn}\p{Me}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]$/u;
/** Hangul fillers. Unlike other ignorable characters, terminals draw them as blanks. */
const BLANK = /^[\u115f\u3164\uffa0]$/;
/** Hangul fillers and tone marks, and half a flag. */
const DISPUTED = /^[\u3164\uffa0\u{1f1e6}-\u{1f1ff}]$|[\u302e\u302f]/u;
const SOFT_HYPHEN = '\u00ad';
/** An emoji with a variation selector is wide (UTS #51). */
const PICTURE = /^\p{Emoji}.*\ufe0f/su;
let segmenter: Intl.Segmenter | undefined;

export interface Grapheme {
  text: string;
  width: number;
  isDisputed: boolean;
}

export function* graphemesIn(text: string): Generator<Grapheme> {
  // On first use, because creation takes as long as a small command.
  segmenter ??= new Intl.Segmenter();
  for (const { segment } of segmenter.segment(text)) {
    let sum = 0;
    for (const character of segment) sum += columnsOfOne(character);
    const width = PICTURE.test(segment) ? 2 : Math.min(2, sum);
    yield { text: segment, width, isDisputed: width !== sum || DISPUTED.test(segment) };
  }
}

/** Terminal columns by East Asian Width (UAX #11). */
export const computeTextWidth = (text: string): number => {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemesIn(text)) width += grapheme.width;
  return width;
};

const columnsOfOne = (character: string): number => {
  const isBlank = character === SOFT_HYPHEN || BLANK.test(character);
  if (!isBlank && NO_COLUMN.test(character)) return 0;
  return eastAsianWidth(character.codePointAt(0) ?? 0);
};
