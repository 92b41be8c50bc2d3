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

/** The characters that have a plain form; white space has that of a space. */
const PLAIN = new Map<string, string>([
  ...[...'‘’‚‛′'].map((mark): [string, string] => [mark, "'"]),
  ...[...'“”„‟«»″'].map((mark): [string, string] => [mark, '"']),
  ...[...'‐‑‒–—'].map((mark): [string, string] => [mark, '-']),
]);

/** Gives each character its plain form, and white space the form of one space. */
const plainForm = (text: string): { text: string; places: number[] } => {
  const plain: string[] = [];
  const places: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const form = char.trim() === '' ? ' ' : (PLAIN.get(char) ?? char);
    if (form === ' ' && plain.at(-1) === ' ') continue;
    plain.push(form);
    places.push(at);
  }
  return { text: plain.join(''), places };
};
