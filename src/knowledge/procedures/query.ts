import { loadStopwords } from '../../kernel/searchwords.js';
import { queryPieces } from './querypieces.js';
import { gramsOf, segmentsOf, spacedWords, stemOf, unspacedRuns } from './words.js';

/** Ours: the most words of a query that are searched for. */
const MAX_WORDS = 48;

/** A query as it is searched for: each term is an expression of FTS5 without any syntax of its own. */
export interface ParsedQuery {
  /** The words of which one at least must stand in a chunk, if there are no phrases. */
  words: QueryWord[];
  /** The phrases, all of which must stand in a chunk. */
  phrases: string[];
  /** The words and phrases of which none may stand there. */
  excluded: string[];
  /** The pieces that are marked in a snippet. */
  marks: QueryMarks;
  /** The words as they were written, of which parts of other words are made. */
  parts: string[];
}

export interface QueryWord {
  expression: string;
  /** The word as the index has it; null for characters of a script without spaces. */
  stem: string | null;
}

export interface QueryMarks {
  stems: string[];
  /** Sequences of characters of scripts without spaces. */
  runs: string[];
  /** Parts of words. */
  parts: string[];
}

/**
 * Reads what a person searches for. Quotes keep a phrase and `-` excludes; all else is literal.
 * Returns null if nothing but exclusions can be searched for.
 */
export const parseQuery = async (query: string): Promise<ParsedQuery | null> => {
  const pieces = queryPieces(query);
  const given = pieces.filter(({ isExcluded }) => !isExcluded);
  const stopwords = await loadStopwords();
  const texts = given.filter(({ isPhrase }) => !isPhrase).map(({ text }) => text);
  const all = distinct(texts.flatMap(spacedWords), stemOf);
  const telling = all.filter((word) => !stopwords.has(word));
  const phrases = given.filter(({ isPhrase }) => isPhrase).map(({ text }) => text);
  const chosen = telling.length > 0 || phrases.length > 0 ? telling : all;
  const runs = [...new Set(texts.flatMap(unspacedRuns))];
  const words = [...chosen.map(spacedTerm), ...distinctTerms(runs.flatMap(unspacedTerms))];
  const parsed = {
    words: words.slice(0, MAX_WORDS),
    phrases: phrases.flatMap(phraseTerms),
    excluded: pieces
      .filter(({ isExcluded }) => isExcluded)
      .flatMap(({ text }) => phraseTerms(text)),
    marks: marksOf(chosen, [...runs, ...phrases.flatMap(unspacedRuns)], phrases),
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

/** Quotes a text for FTS5: within the quotes nothing is syntax. */
const quoted = (text: string): string => `"${text.replaceAll('"', '""').replaceAll('\0', ' ')}"`;

const inWords = (text: string): string => `{title words} : ${quoted(text)}`;
const inGrams = (text: string): string => `grams : ${quoted(text)}`;

const spacedTerm = (word: string): QueryWord => ({
  expression: inWords(word),
  stem: stemOf(word),
});

/** Makes the terms of a run: its words by the dictionary, and each pair of its characters. */
const unspacedTerms = (run: string): QueryWord[] => {
  const pairs = gramsOf(run).split(' ').slice(0, -1);
  const grams = pairs.length > 0 ? pairs.map(inGrams) : [`${inGrams(run)} *`];
  const segments = segmentsOf(run).map(inWords);
  return [...segments, ...grams].map((expression) => ({ expression, stem: null }));
};

/** Makes the expression of a phrase; none if it has no words. */
const phraseTerms = (phrase: string): string[] => {
  const runs = unspacedRuns(phrase).map((run) => {
    const pairs = gramsOf(run).split(' ').slice(0, -1);
    return pairs.length > 0 ? inGrams(pairs.join(' ')) : `${inGrams(run)} *`;
  });
  const words = spacedWords(phrase);
  const spaced = words.length > 0 ? [inWords(words.join(' '))] : [];
  const terms = [...spaced, ...runs];
  return terms.length > 1 ? [`(${terms.join(' AND ')})`] : terms;
};

const marksOf = (words: string[], runs: string[], phrases: string[]): QueryMarks => ({
  stems: [...new Set([...words, ...phrases.flatMap(spacedWords)].map(stemOf))],
  runs: [...new Set(runs)],
  parts: [],
});
