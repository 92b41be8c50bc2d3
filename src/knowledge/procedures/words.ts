import { stemmer } from 'stemmer';
import { dividedWords } from '../../kernel/normalform.js';
import { foldText, isAscii, UNSPACED } from '../../kernel/searchwords.js';

/**
 * The tokenizer of the index, which makes stems of English words. It leaves the accents of some
 * scripts: texts and queries are folded before.
 */
export const TOKENIZER = `porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'`;

/** A word as that tokenizer takes it, with the characters in it that are not visible. */
const WORD = /[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}](?:[\p{L}\p{N}\p{Co}\p{Mn}\p{Mc}]|\p{DI})*/gu;
const segmenters = new Map<string, Intl.Segmenter>();

/** A text as it goes into the index. */
export interface IndexedText {
  /** Its words, in scripts without spaces as a dictionary splits them. */
  words: string;
  /** The overlapping pairs of characters of the scripts without spaces, and the last character. */
  grams: string;
}

/** Prepares a text for the index. Words that are divided at the ends of lines are there joined too. */
export const indexedText = (text: string): IndexedText => {
  const whole = [text, ...joinedPhrases(text)].join('\n');
  // The tokenizer makes lower case of it.
  const plain = isAscii(whole) ? whole : foldText(whole);
  if (plain.search(UNSPACED) < 0) return { words: plain, grams: '' };
  const grams: string[] = [];
  const words = plain.replace(UNSPACED, (run) => {
    grams.push(gramsOf(run));
    return ` ${segmentsOf(run).join(' ')} `;
  });
  return { words, grams: grams.join(' ') };
};

/** Ours: the characters beside a divided word with which it stands in the index, for phrases. */
const BESIDE = 40;

/** Returns the divided words of a text, each joined and with the words beside it. */
const joinedPhrases = (text: string): string[] =>
  dividedWords(text).map(({ word, from, to }) => {
    const before = text.slice(Math.max(0, from - BESIDE), from);
    const after = text.slice(to, to + BESIDE);
    return `${before.replace(/^\S*\s/, '')}${word}${after.replace(/\s\S*$/, '')}`;
  });

/** Returns the pairs of characters of a run, and its last character, in their order. */
export const gramsOf = (run: string): string => {
  const signs = [...run];
  const pairs = signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
  return [...pairs, signs.at(-1) ?? ''].join(' ');
};

/** Splits a run of a script without spaces into its words by a dictionary. */
export const segmentsOf = (run: string): string[] => {
  const locale = localeOf(run);
  const segmenter = segmenters.get(locale) ?? new Intl.Segmenter(locale, { granularity: 'word' });
  segmenters.set(locale, segmenter);
  return [...segmenter.segment(run)].map(({ segment }) => segment);
};

const localeOf = (run: string): string => {
  if (/\p{sc=Thai}/u.test(run)) return 'th';
  if (/\p{sc=Lao}/u.test(run)) return 'lo';
  if (/\p{sc=Khmer}/u.test(run)) return 'km';
  return /[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(run) ? 'ja' : 'zh';
};

/** Returns the words of a text, without those runs, as they are written. */
export const spacedWords = (text: string): string[] =>
  text.replace(UNSPACED, ' ').match(WORD) ?? [];

/** Returns the runs of scripts without spaces in a text. */
export const unspacedRuns = (text: string): string[] => text.match(UNSPACED) ?? [];

/** Returns a word as the index has it. */
export const stemOf = (word: string): string => {
  const folded = foldText(word);
  return /^[a-z]+$/.test(folded) ? stemmer(folded) : folded;
};

/** A word of a text with its place. */
interface PlacedWord {
  word: string;
  from: number;
  to: number;
}

/** Returns the words of a text with their places, those of scripts without spaces as whole runs. */
export const placedWords = (text: string): PlacedWord[] => placesOf(text, WORD);

/** Ours: the characters at the beginning of a stem with which its words begin too, at most. */
const MAX_BEGINNING_LENGTH = 3;

/**
 * Returns the words of a text that may have one of some stems, with their places. A word and its stem
 * begin alike, but for the last character of the stem (Porter, 1980) and for accents.
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
  // Compiled anew for each query, which takes longer than a search where it has classes of Unicode.
  const like = beginnings.map((beginning) => beginning.slice(0, MAX_BEGINNING_LENGTH)).join('|');
  return placesOf(text, new RegExp(`(?<![a-z0-9])(?:${like})[a-z0-9]*`, 'gi'));
};

const placesOf = (text: string, words: RegExp): PlacedWord[] =>
  [...text.matchAll(words)].map(({ 0: word, index }) => ({
    word,
    from: index,
    to: index + word.length,
  }));
