import { stemmer } from 'stemmer';
import { dividedWords } from '../../kernel/normalform.js';
import { foldText, isAscii, UNSPACED } from '../../kernel/searchwords.js';

/** Stems English words. It keeps accents of some scripts, so texts and queries are folded first. */
export const TOKENIZER = `porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'`;

/** A word as the tokenizer sees it, including invisible characters. */
const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}](?:[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]|\p{DI})*/gu;
const segmenters = new Map<string, Intl.Segmenter>();

export interface IndexedText {
  /** Words. Scripts without spaces are split by a dictionary. */
  words: string;
  /** Overlapping pairs of characters of scripts without spaces, and the last character. */
  grams: string;
}

/** Words that are hyphenated at line ends are indexed in joined form as well. */
export const indexedText = (text: string): IndexedText => {
  const whole = [text, ...joinedPhrases(text)].join('\n');
  // The tokenizer converts to lower case.
  const plain = isAscii(whole) ? whole : foldText(whole);
  if (plain.search(UNSPACED) < 0) return { words: plain, grams: '' };
  const grams: string[] = [];
  const words = plain.replace(UNSPACED, (run) => {
    grams.push(formatBigrams(run));
    return ` ${segmentWords(run).join(' ')} `;
  });
  return { words, grams: grams.join(' ') };
};

/** Number of characters around a hyphenated word that are indexed with it, for phrases. */
const BESIDE = 40;

const joinedPhrases = (text: string): string[] =>
  dividedWords(text).map(({ word, from, to }) => {
    const before = text.slice(Math.max(0, from - BESIDE), from);
    const after = text.slice(to, to + BESIDE);
    return `${before.replace(/^\S*\s/, '')}${word}${after.replace(/\s\S*$/, '')}`;
  });

export const formatBigrams = (run: string): string => {
  const signs = [...run];
  const pairs = signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
  return [...pairs, signs.at(-1) ?? ''].join(' ');
};

export const segmentWords = (run: string): string[] => {
  const locale = detectLocale(run);
  const segmenter = segmenters.get(locale) ?? new Intl.Segmenter(locale, { granularity: 'word' });
  segmenters.set(locale, segmenter);
  return [...segmenter.segment(run)].map(({ segment }) => segment);
};

const detectLocale = (run: string): string => {
  if (/\p{sc=Thai}/u.test(run)) return 'th';
  if (/\p{sc=Lao}/u.test(run)) return 'lo';
  if (/\p{sc=Khmer}/u.test(run)) return 'km';
  return /[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(run) ? 'ja' : 'zh';
};

export const spacedWords = (text: string): string[] =>
  text.replace(UNSPACED, ' ').match(WORD) ?? [];

export const unspacedRuns = (text: string): string[] => text.match(UNSPACED) ?? [];

export const stemWord = (word: string): string => {
  const folded = foldText(word);
  return /^[a-z]+$/.test(folded) ? stemmer(folded) : folded;
};

interface PlacedWord {
  word: string;
  from: number;
  to: number;
}

export const placedWords = (text: string): PlacedWord[] => findWordPlaces(text, WORD);

/** Maximum length of the common beginning of a word and its stem. */
const MAX_BEGINNING_LENGTH = 3;

/**
 * A word and its stem have the same beginning, except for the last character of the stem (Porter,
 * 1980) and for accents.
 */
export const wordsLike = (text: string, stems: string[]): PlacedWord[] => {
  if (!isAscii(text)) {
    const beginnings = new Set(stems.map((stem) => stem.slice(0, 1)));
    return placedWords(text).filter(
      ({ word }) => !/^[a-z]/i.test(word) || beginnings.has(word.slice(0, 1).toLowerCase()),
    );
  }
  const beginnings = stems
    .filter(isAscii)
    .map((stem) => stem.slice(0, Math.max(1, stem.length - 1)));
  if (beginnings.length === 0) return [];
  // Compiled for each query. Unicode classes would make this slower than the search.
  const like = beginnings.map((beginning) => beginning.slice(0, MAX_BEGINNING_LENGTH)).join('|');
  return findWordPlaces(text, new RegExp(`(?<![a-z0-9])(?:${like})[a-z0-9]*`, 'gi'));
};

const findWordPlaces = (text: string, words: RegExp): PlacedWord[] =>
  [...text.matchAll(words)].map(({ 0: word, index }) => ({
    word,
    from: index,
    to: index + word.length,
  }));
