import { stemmer } from 'stemmer';
import { dividedWords, normalForm } from './normalform.js';

const MAX_WORDS = 500;
const MAX_WORD_LENGTH = 40;

export const UNSPACED_SCRIPTS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}';
export const UNSPACED = new RegExp(`[${UNSPACED_SCRIPTS}]+`, 'gu');
const SPACED = /[\p{L}\p{N}]+/gu;
const ASCII = /^[\x00-\x7f]*$/;
const ACCENTED = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])\p{M}+/gu;

/**
 * Unique words in lower case without accents; English ones stemmed (Porter, 1980). Scripts without
 * spaces give overlapping pairs of characters. Stop words are left out.
 */
export const searchWords = async (text: string): Promise<string[]> => {
  const stopwords = await loadStopwords();
  const divided = dividedWords(text).map(({ word }) => foldText(word));
  const folded = foldText(text);
  const pairs = (folded.match(UNSPACED) ?? []).flatMap(splitBigrams);
  const spaced = folded.replace(UNSPACED, ' ').match(SPACED) ?? [];
  const words = [...spaced, ...divided].filter((word) => !stopwords.has(word)).map(stemmed);
  return [...new Set([...words, ...pairs])].slice(0, MAX_WORDS);
};

export const foldText = (text: string): string =>
  isAscii(text)
    ? text.toLowerCase()
    : normalForm(text)
        .normalize('NFKD')
        .replace(ACCENTED, '$1')
        .normalize('NFKC')
        .toLowerCase()
        .replaceAll('ß', 'ss');

export const isAscii = (text: string): boolean => ASCII.test(text);

let loading: Promise<Set<string>> | undefined;

/** Loaded on first use, which saves 60 ms of each start. */
export const loadStopwords = (): Promise<Set<string>> => {
  loading ??= import('stopword').then(
    ({ deu, eng, fra, ita, nld, por, spa }) =>
      new Set([deu, eng, fra, ita, nld, por, spa].flat().map(foldText)),
  );
  return loading;
};

const stemmed = (word: string): string =>
  (/^[a-z]+$/.test(word) ? stemmer(word) : word).slice(0, MAX_WORD_LENGTH);

const splitBigrams = (run: string): string[] => {
  const signs = [...run];
  if (signs.length === 1) return signs;
  return signs.slice(1).map((sign, at) => `${signs[at]}${sign}`);
};
