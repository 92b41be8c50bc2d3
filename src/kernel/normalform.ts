/**
 * Characters that are not visible by themselves: the soft hyphen, joiners, marks of direction and
 * variation selectors (Unicode Standard Annex 44, Default_Ignorable_Code_Point).
 */
const IGNORABLE = /\p{DI}/gu;

/**
 * Returns the form in which names, patterns and search words are compared: composed (Unicode Standard
 * Annex 15, NFC), and without characters that are not visible. A Mac writes names decomposed.
 */
export const normalForm = (text: string): string => text.replace(IGNORABLE, '').normalize('NFC');

/** True if a character is not visible by itself. */
export const isIgnorable = (character: string): boolean => /^\p{DI}/u.test(character);

/** True if two names are the same to a reader. */
export const isSameName = (one: string, other: string): boolean =>
  normalForm(one) === normalForm(other);

/** A word that a hyphen divides at the end of a line: both halves, and the break between them. */
const DIVIDED =
  /(?<![\p{L}\p{M}])([\p{L}\p{M}]{2,60})([-\u2010\u00AD]\p{DI}*[^\S\n]*\n[^\S\n]*)([\p{L}\p{M}]{2,60})/gu;

/** A divided word as it is spoken, with its place in the text and that of the break in it. */
export interface DividedWord {
  word: string;
  from: number;
  to: number;
  breakFrom: number;
  breakTo: number;
}

/** Returns the words of a text that are divided at the ends of lines, joined. */
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
