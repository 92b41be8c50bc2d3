/** A sentence of an answer, with the places that it is taken from. */
export interface QuotedSentence {
  text: string;
  quotes: { n: number; quote: string }[];
}

/** Ours: the fewest characters of a quote that says something. */
const SHORTEST = 3;

/** Reads the answer of a model: JSON, with whatever stands around it. Null: it is none. */
export const readSentences = (text: string): QuotedSentence[] | null => {
  const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  try {
    const { sentences }: { sentences?: unknown } = Object(JSON.parse(json));
    return Array.isArray(sentences) ? sentences.flatMap(sentenceOf) : null;
  } catch {
    return null;
  }
};

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
 * Finds a quote in a text, whatever the white space and the form of the quotation marks. Returns its
 * place in UTF-16 code units, or null if it does not stand there.
 */
export const placeOfQuote = (text: string, quote: string): { from: number; to: number } | null => {
  const wanted = plainForm(quote).text.trim();
  if (wanted.length < SHORTEST) return null;
  const { text: plain, places } = plainForm(text);
  const at = plain.indexOf(wanted);
  if (at < 0) return null;
  const [from = 0, last = 0] = [places[at], places[at + wanted.length - 1]];
  return { from, to: last + 1 };
};

const MARKS: [RegExp, string][] = [
  [/\s/, ' '],
  [/[‘’‚‛′]/, "'"],
  [/[“”„‟«»″]/, '"'],
  [/[‐‑‒–—]/, '-'],
];

/** Gives each character its plain form, and white space the form of one space. */
const plainForm = (text: string): { text: string; places: number[] } => {
  let plain = '';
  const places: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    const form = MARKS.find(([mark]) => mark.test(char))?.[1] ?? char;
    if (form === ' ' && plain.endsWith(' ')) continue;
    plain += form;
    places.push(at);
  }
  return { text: plain, places };
};
