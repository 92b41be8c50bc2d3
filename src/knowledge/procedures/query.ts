import { loadStopwords } from '../../kernel/searchwords.js';
import { queryPieces } from './querypieces.js';
import { formatBigrams, segmentWords, spacedWords, stemWord, unspacedRuns } from './words.js';

const MAX_WORDS = 48;

/** Each term is an escaped FTS5 expression. */
export interface ParsedQuery {
  words: QueryWord[];
  phrases: string[];
  excluded: string[];
  marks: QueryMarks;
  parts: string[];
}

export interface QueryWord {
  expression: string;
  /** `null` for characters of a script without spaces. */
  stem: string | null;
}

export interface QueryMarks {
  stems: string[];
  runs: string[];
  parts: string[];
}

/**
 * Quotes match a phrase and `-` excludes. Everything else is literal. Returns null if the query has
 * only exclusions.
 */
export const parseQuery = async (query: string): Promise<ParsedQuery | null> => {
  const pieces = queryPieces(query);
  const included = pieces.filter(({ isExcluded }) => !isExcluded);
  const stopwords = await loadStopwords();
  const texts = included.filter(({ isPhrase }) => !isPhrase).map(({ text }) => text);
  const all = distinct(texts.flatMap(spacedWords), stemWord);
  const telling = all.filter((word) => !stopwords.has(word));
  const phrases = included.filter(({ isPhrase }) => isPhrase).map(({ text }) => text);
  const chosen = telling.length > 0 || phrases.length > 0 ? telling : all;
  const runs = [...new Set(texts.flatMap(unspacedRuns))];
  const words = [...chosen.map(spacedTerm), ...distinctTerms(runs.flatMap(unspacedTerms))];
  const parsed = {
    words: words.slice(0, MAX_WORDS),
    phrases: phrases.flatMap(phraseTerms),
    excluded: pieces
      .filter(({ isExcluded }) => isExcluded)
      .flatMap(({ text }) => phraseTerms(text)),
    marks: buildQueryMarks(chosen, [...runs, ...phrases.flatMap(unspacedRuns)], phrases),
    parts: chosen.filter((word) => [...word].length >= 3),
  };
  return parsed.words.length + parsed.phrases.length > 0 ? parsed : null;
};

const distinct = (words: string[], keyOf: (word: string) => string): string[] => [
  ...new Map(words.map((word) => [keyOf(word), word])).values(),
];

const distinctTerms = (terms: QueryWord[]): QueryWord[] => [
  ...new Map(terms.map((term) => [term.expression, term])).values(),
];

/** Quoted text has no FTS5 syntax. */
const quoted = (text: string): string => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;

const inWords = (text: string): string => `{title words} : ${quoted(text)}`;
const inGrams = (text: string): string => `grams : ${quoted(text)}`;

const spacedTerm = (word: string): QueryWord => ({
  expression: inWords(word),
  stem: stemWord(word),
});

/** Uses dictionary words and all pairs of characters. */
const unspacedTerms = (run: string): QueryWord[] => {
  const pairs = formatBigrams(run).split(' ').slice(0, -1);
  const grams = pairs.length > 0 ? pairs.map(inGrams) : [`${inGrams(run)} *`];
  const segments = segmentWords(run).map(inWords);
  return [...segments, ...grams].map((expression) => ({ expression, stem: null }));
};

const phraseTerms = (phrase: string): string[] => {
  const runs = unspacedRuns(phrase).map((run) => {
    const pairs = formatBigrams(run).split(' ').slice(0, -1);
    return pairs.length > 0 ? inGrams(pairs.join(' ')) : `${inGrams(run)} *`;
  });
  const words = spacedWords(phrase);
  const spaced = words.length > 0 ? [inWords(words.join(' '))] : [];
  const terms = [...spaced, ...runs];
  return terms.length > 1 ? [`(${terms.join(' AND ')})`] : terms;
};

const buildQueryMarks = (words: string[], runs: string[], phrases: string[]): QueryMarks => ({
  stems: [...new Set([...words, ...phrases.flatMap(spacedWords)].map(stemWord))],
  runs: [...new Set(runs)],
  parts: [],
});
