import { parsedJson } from '../kernel/jsonvalue.js';
import { type DividedWord, dividedWords, isIgnorable, normalForm } from '../kernel/normalform.js';
import { UNSPACED_SCRIPTS } from '../kernel/searchwords.js';

export interface QuotedSentence {
  text: string;
  quotes: { n: number; quote: string }[];
}

/** Minimum and maximum length of a quote, in characters. */
const MIN_QUOTE_LENGTH = 8;
const MIN_UNSPACED_LENGTH = 4;
const MAX_QUOTE_LENGTH = 4000;

interface ReadSentences {
  sentences: QuotedSentence[];
  /** False if some parts of the reply are not sentences. These are left out. */
  isWhole: boolean;
}

/**
 * Reads the JSON in a model reply, ignoring text around it. Returns null if it contains no
 * sentence.
 */
export const parseAnswer = (text: string): ReadSentences | null => {
  const { sentences: list }: { sentences?: unknown } = Object(extractJson(text, 'sentences'));
  if (!Array.isArray(list)) return null;
  const sentences = parseSentences(list);
  if (sentences.length === 0 && list.length > 0) return null;
  return { sentences, isWhole: sentences.length === list.length };
};

/** Maximum number of opening braces that are tried as the start of JSON. */
const MAX_BEGINNINGS = 20;

/** Returns the first JSON object in a model reply that has the given member, or undefined. */
export const extractJson = (text: string, member: string): unknown => {
  let from = text.indexOf('{');
  for (let tried = 0; from >= 0 && tried < MAX_BEGINNINGS; tried++) {
    const object = firstObject(text.slice(from));
    const value = object === null ? undefined : parsedJson(object);
    if (value !== undefined && Object.hasOwn(Object(value), member)) return value;
    // Invalid JSON may contain valid JSON.
    from = text.indexOf('{', from + (value === undefined ? 1 : (object?.length ?? 1)));
  }
  return undefined;
};

/** A string, which may be unterminated, or a brace (RFC 8259, 7 and 4). */
const STRING_OR_BRACE = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}]/gs;

const firstObject = (text: string): string | null => {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(STRING_OR_BRACE)) {
    if (token === '{') depth++;
    if (token === '}' && --depth === 0) return text.slice(0, index + 1);
  }
  return null;
};

export const parseSentences = (list: unknown[]): QuotedSentence[] => list.flatMap(parseSentence);

const parseSentence = (item: unknown): QuotedSentence[] => {
  const { text, quotes }: { text?: unknown; quotes?: unknown } = Object(item);
  if (typeof text !== 'string' || text.trim() === '') return [];
  const list: unknown[] = Array.isArray(quotes) ? quotes : [];
  return [{ text: text.trim(), quotes: list.map(parseQuote) }];
};

/** An invalid quote is in no text, so its sentence is not supported. */
const NO_QUOTE = { n: 0, quote: '' };

const parseQuote = (item: unknown): QuotedSentence['quotes'][number] => {
  const { n, quote }: { n?: unknown; quote?: unknown } = Object(item);
  const number = typeof n === 'string' && /^\d{1,6}$/.test(n) ? Number(n) : n;
  return typeof number === 'number' && typeof quote === 'string' ? { n: number, quote } : NO_QUOTE;
};

/** A number with its sign and separators: `-2,400.50`, `10:30`, `½`. */
const NUMBER = /(?:(?<![\p{L}\p{N}])[-\u2212])?\p{N}+(?:[.,:/'’]\p{N}+)*/gu;
const SENTENCE_END_WITHOUT_SPACE = /(?<=[\p{Ll}\p{N}][.!?…])(?=\p{Lu})/gu;

/**
 * True if a text is itself a quote, or if there is a quote for each of its sentences and each of
 * its numbers is in a quote.
 */
export const isSupportedByQuotes = (text: string, quotes: { quote: string }[]): boolean => {
  const normalized = plainForm(text.replace(/^[“"]|[”"]$/g, '')).text.trim();
  const plain = [...new Set(quotes.map(({ quote }) => plainForm(quote).text.trim()))];
  if (plain.some((quote) => placeOfWords(quote, normalized) !== null)) return true;
  const split = text.replace(SENTENCE_END_WITHOUT_SPACE, ' ');
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(split)];
  const worded = sentences.filter(({ segment }) => /[\p{L}\p{N}]/u.test(segment));
  // A quote within another quote does not count.
  const folded = [...new Set(plain.map((quote) => quote.toLowerCase()))];
  const apart = folded.filter(
    (quote) => !folded.some((one) => one !== quote && one.includes(quote)),
  );
  const numbers = new Set(plain.flatMap(numbersIn));
  return (
    apart.length >= Math.max(1, worded.length) &&
    numbersIn(text).every((number) => numbers.has(number))
  );
};

/** Normalizes signs and separators. */
export const numbersIn = (text: string): string[] =>
  (text.match(NUMBER) ?? []).map((number) => number.replace('\u2212', '-').replaceAll('’', "'"));

interface QuotePlace {
  from: number;
  to: number;
}

/**
 * Returns a function that finds quotes in a text. White space, quotation marks and the form of
 * accents may differ. It returns null for quotes that do not match whole words or are too short.
 */
export const quoteFinder = (text: string): ((quote: string) => QuotePlace | null) => {
  let prepared: ReturnType<typeof plainForm> | null = null;
  return (quote) => {
    if (quote.length > MAX_QUOTE_LENGTH) return null;
    const wanted = plainForm(quote).text.trim();
    const shortest = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(wanted)
      ? MIN_UNSPACED_LENGTH
      : MIN_QUOTE_LENGTH;
    prepared ??= plainForm(text);
    if (wanted.length < Math.min(shortest, prepared.text.trim().length)) return null;
    const place = placeIn(prepared, wanted) ?? placeIn(joinedForm(text, wanted), wanted);
    return place && { from: place.from, to: endOfCharacter(text, place.last) };
  };
};

interface PlainText {
  text: string;
  /** Offset in the text of each code unit of the normalized form. */
  places: Int32Array;
}

const placeIn = (plain: PlainText | null, wanted: string) => {
  const at = plain && placeOfWords(plain.text, wanted);
  if (plain === null || at === null) return null;
  const [from = 0, last = 0] = [plain.places[at], plain.places[at + wanted.length - 1]];
  return { from, last };
};

/** Joins words that are hyphenated at line ends, in the form that the quote uses. */
const joinedForm = (text: string, quote: string): PlainText | null => {
  const divided = dividedWords(text);
  if (divided.length === 0) return null;
  const breaks = divided.map((each): [number, WordBreak] => [
    each.breakFrom,
    { to: each.breakTo, isHyphen: !quote.includes(each.word.normalize('NFC')) },
  ]);
  return plainForm(text, new Map(breaks));
};

interface WordBreak {
  to: DividedWord['breakTo'];
  isHyphen: boolean;
}

/** Maximum number of positions that are tried. Each comparison takes as long as the quote. */
const MAX_PLACES = 1000;

const placeOfWords = (text: string, words: string): number | null => {
  if (words === '') return null;
  let at = text.indexOf(words);
  for (let looked = 0; at >= 0 && looked < MAX_PLACES; looked++) {
    if (!isWithinWord(text, at) && !isWithinWord(text, at + words.length)) return at;
    at = text.indexOf(words, at + 1);
  }
  return null;
};

/** Scripts without spaces have no word boundaries. */
const IN_WORD = new RegExp(`^(?![${UNSPACED_SCRIPTS}])[\\p{L}\\p{N}\\p{M}]`, 'u');

const isWithinWord = (text: string, place: number): boolean =>
  place > 0 &&
  ((isOfWord(text, place - 1) && isOfWord(text, place)) || isWithinNumber(text, place));

/** Maximum length of the part of a number that is checked, in UTF-16 code units. */
const NUMBER_LENGTH = 8;
/** A number that continues (`10|,000`, `10,|000`, `10| 000`) or lacks its sign (`-|500`). */
const CONTINUED_NUMBER = [
  [/\p{N}$/u, /^(?:[.,:/']\p{N}| \p{N}{3}(?!\p{N}))/u],
  [/\p{N}[.,:/']$/u, /^\p{N}/u],
  [/(?<!\p{N})\p{N}{1,3} $/u, /^\p{N}{3}(?!\p{N})/u],
  [/(?<![\p{L}\p{N}])[-\u2212]$/u, /^\p{N}/u],
] as const;

const isWithinNumber = (text: string, place: number): boolean => {
  const [before, after] = [
    text.slice(Math.max(0, place - NUMBER_LENGTH), place),
    text.slice(place, place + NUMBER_LENGTH),
  ];
  return CONTINUED_NUMBER.some(([end, beginning]) => end.test(before) && beginning.test(after));
};

const isOfWord = (text: string, place: number): boolean =>
  IN_WORD.test(text.slice(place, place + 2));

const SPACE = 0x20;

const PLAIN = new Map<number, number>(
  [
    ["'", '‘’‚‛′'],
    ['"', '“”„‟«»″'],
    ['-', '‐‑‒–—'],
    [' ', '\t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000'],
    [' ', '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a'],
  ].flatMap(([plain = '', others = '']) =>
    [...others].map((one): [number, number] => [one.charCodeAt(0), plain.charCodeAt(0)]),
  ),
);
/** Code units below are their own normalized form, except for these control characters. */
const ASCII = 0x80;
const FIRST_CONTROL = 9;
const LAST_CONTROL = 13;
const CODES_AT_ONCE = 8192;

/**
 * Normalizes each character. Any white space becomes one space. Letters and combining accents are
 * composed (Unicode Standard Annex 15, NFC). Invisible characters are removed.
 */
const plainForm = (text: string, breaks?: ReadonlyMap<number, WordBreak>): PlainText => {
  const codes = new Uint16Array(text.length);
  const places = new Int32Array(text.length);
  let count = 0;
  for (let at = 0, end = 0; at < text.length; at = end) {
    const divided = breaks?.get(at);
    end = divided?.to ?? endOfCharacter(text, at);
    const piece = divided ? (divided.isHyphen ? '-' : '') : plainPiece(text, at, end);
    for (let unit = 0; unit < (piece?.length ?? 1); unit++) {
      const code = piece === null ? plainCode(text.charCodeAt(at)) : piece.charCodeAt(unit);
      if (code === SPACE && count > 0 && codes[count - 1] === SPACE) continue;
      codes[count] = code;
      places[count++] = at;
    }
  }
  let plain = '';
  for (let at = 0; at < count; at += CODES_AT_ONCE) {
    plain += String.fromCharCode(...codes.subarray(at, Math.min(count, at + CODES_AT_ONCE)));
  }
  return { text: plain, places };
};

const FIRST_MARK = 0x300;
const MARK = /^\p{M}/u;
/**
 * Maximum number of combining marks per character (Unicode Standard Annex 15, Stream-Safe Text
 * Format). Composition is quadratic in their number.
 */
const MAX_MARKS = 30;

const endOfCharacter = (text: string, at: number): number => {
  let end = at + 1;
  const last = end + MAX_MARKS;
  while (end < last && text.charCodeAt(end) >= FIRST_MARK && MARK.test(text.charAt(end))) end++;
  return end;
};

const plainPiece = (text: string, at: number, end: number): string | null => {
  if (end > at + 1) return composed(text.slice(at, end));
  return text.charCodeAt(at) >= ASCII && isIgnorable(text.charAt(at)) ? '' : null;
};

/** Keeps a character if its composed form would be longer. */
const composed = (character: string): string => {
  const whole = normalForm(character);
  return whole.length > character.length ? character : whole;
};

const plainCode = (code: number): number => {
  if (code >= ASCII) return PLAIN.get(code) ?? code;
  return code >= FIRST_CONTROL && code <= LAST_CONTROL ? SPACE : code;
};
