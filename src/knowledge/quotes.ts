import { parsedJson } from '../kernel/jsonvalue.js';

/** A sentence of an answer, with the places that it is taken from. */
export interface QuotedSentence {
  text: string;
  quotes: { n: number; quote: string }[];
}

/** Ours: the fewest characters of a quote that says something, and the most of one. */
const SHORTEST = 8;
const SHORTEST_UNSPACED = 4;
const LONGEST = 4000;

/** Reads the answer of a model: JSON, with whatever stands around it. Null: it is none. */
export const readSentences = (text: string): QuotedSentence[] | null => {
  const { sentences }: { sentences?: unknown } = Object(jsonWithin(text));
  return Array.isArray(sentences) ? sentencesIn(sentences) : null;
};

/** Reads the JSON object in the answer of a model; undefined if there is none. */
export const jsonWithin = (text: string): unknown =>
  parsedJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));

/** Reads the sentences of a list that a model wrote; what is none is left out. */
export const sentencesIn = (list: unknown[]): QuotedSentence[] => list.flatMap(sentenceOf);

const sentenceOf = (given: unknown): QuotedSentence[] => {
  const { text, quotes }: { text?: unknown; quotes?: unknown } = Object(given);
  if (typeof text !== 'string' || text.trim() === '') return [];
  const list: unknown[] = Array.isArray(quotes) ? quotes : [];
  return [{ text: text.trim(), quotes: list.flatMap(quoteOf) }];
};

const quoteOf = (given: unknown): QuotedSentence['quotes'] => {
  const { n, quote }: { n?: unknown; quote?: unknown } = Object(given);
  return typeof n === 'number' && typeof quote === 'string' ? [{ n, quote }] : [];
};

/**
 * True if a text is a quote itself, or if each of its sentences may have one of its own and each
 * number in it stands in a quote or in the question.
 */
export const isProved = (text: string, quotes: { quote: string }[], question: string): boolean => {
  const said = text.replace(/^[“"]|[”"]$/g, '');
  if (quotes.some(({ quote }) => quote.replace(/\s+/g, ' ').includes(said))) return true;
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)];
  const worded = sentences.filter(({ segment }) => /[\p{L}\p{N}]/u.test(segment));
  const proof = [question, ...quotes.map(({ quote }) => quote)].join(' ');
  const numbers = new Set(proof.match(/\p{Nd}+/gu));
  return (
    quotes.length >= Math.max(1, worded.length) &&
    (text.match(/\p{Nd}+/gu) ?? []).every((number) => numbers.has(number))
  );
};

/** The place of a quote in UTF-16 code units. */
interface QuotePlace {
  from: number;
  to: number;
}

/**
 * Returns the function that finds quotes in one text, whatever the white space and the form of the
 * quotation marks. It returns null for one that does not stand there, or is too short to prove
 * anything.
 */
export const quoteFinder = (text: string): ((quote: string) => QuotePlace | null) => {
  let prepared: ReturnType<typeof plainForm> | null = null;
  return (quote) => {
    if (quote.length > LONGEST) return null;
    const wanted = plainForm(quote).text.trim();
    const shortest = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u.test(wanted)
      ? SHORTEST_UNSPACED
      : SHORTEST;
    prepared ??= plainForm(text);
    const { text: plain, places } = prepared;
    if (wanted.length < Math.min(shortest, plain.trim().length)) return null;
    const at = plain.indexOf(wanted);
    if (at < 0 || wanted === '') return null;
    const [from = 0, last = 0] = [places[at], places[at + wanted.length - 1]];
    return { from, to: last + 1 };
  };
};

const SPACE = 0x20;

/** The codes of characters that have a plain form; white space has that of a space. */
const PLAIN = new Map<number, number>(
  [
    ["'", '‘’‚‛′'],
    ['"', '“”„‟«»″'],
    ['-', '‐‑‒–—'],
    [' ', '\t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'],
    [' ', '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a'],
  ].flatMap(([plain = '', others = '']) =>
    [...others].map((one): [number, number] => [one.charCodeAt(0), plain.charCodeAt(0)]),
  ),
);
/** The codes below are their own plain forms but for these controls. */
const ASCII = 0x80;
const FIRST_CONTROL = 9;
const LAST_CONTROL = 13;
/** The most arguments of one call. */
const CODES_AT_ONCE = 8192;

/** Gives each character its plain form, and white space the form of one space. */
const plainForm = (text: string): { text: string; places: Int32Array } => {
  const codes = new Uint16Array(text.length);
  const places = new Int32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = plainCode(text.charCodeAt(at));
    if (code === SPACE && count > 0 && codes[count - 1] === SPACE) continue;
    codes[count] = code;
    places[count++] = at;
  }
  let plain = '';
  for (let at = 0; at < count; at += CODES_AT_ONCE) {
    plain += String.fromCharCode(...codes.subarray(at, Math.min(count, at + CODES_AT_ONCE)));
  }
  return { text: plain, places };
};

const plainCode = (code: number): number => {
  if (code >= ASCII) return PLAIN.get(code) ?? code;
  return code >= FIRST_CONTROL && code <= LAST_CONTROL ? SPACE : code;
};
