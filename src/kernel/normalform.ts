/**
 * Invisible characters: soft hyphens, joiners, direction marks, variation selectors (Unicode
 * Standard Annex 44, Default_Ignorable_Code_Point).
 */
const IGNORABLE = /\p{DI}/gu;

/**
 * For comparison: NFC (Unicode Standard Annex 15) without invisible characters. macOS stores names
 * decomposed.
 */
export const normalForm = (text: string): string => text.replace(IGNORABLE, '').normalize('NFC');

export const isIgnorable = (character: string): boolean => /^\p{DI}/u.test(character);

export const isSameName = (one: string, other: string): boolean =>
  normalForm(one) === normalForm(other);

const DIVIDED =
  /(?<![\p{L}\p{M}])([\p{L}\p{M}]{2,60})([-\u2010\u00AD]\p{DI}*[^\S\n]*\n[^\S\n]*)([\p{L}\p{M}]{2,60})/gu;

export interface DividedWord {
  word: string;
  from: number;
  to: number;
  breakFrom: number;
  breakTo: number;
}

export const dividedWords = (text: string): DividedWord[] =>
  text.includes('\n')
    ? [...text.matchAll(DIVIDED)].map(({ 0: whole, 1: head = '', 3: tail = '', index }) => ({
        word: head + tail,
        from: index,
        to: index + whole.length,
        breakFrom: index + head.length,
        breakTo: index + whole.length - tail.length,
      }))
    : [];
