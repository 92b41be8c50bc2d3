import { foldText } from '../../kernel/searchwords.js';

const READ = 20_000;
/** Minimum share of stop words by which a language is detected. */
const MIN_SHARE = 0.15;

/** Scripts that identify a language, in the order in which they are checked. */
const SCRIPTS: [RegExp, string][] = [
  [/[\p{sc=Hiragana}\p{sc=Katakana}]/gu, 'ja'],
  [/\p{sc=Hangul}/gu, 'ko'],
  [/\p{sc=Thai}/gu, 'th'],
  [/\p{sc=Lao}/gu, 'lo'],
  [/\p{sc=Khmer}/gu, 'km'],
  [/\p{sc=Han}/gu, 'zh'],
  [/\p{sc=Greek}/gu, 'el'],
  [/\p{sc=Hebrew}/gu, 'he'],
];

/** Returns a two-letter code, or null. */
export const detectLanguage = async (text: string): Promise<string | null> => {
  const part = text.slice(0, READ);
  const letters = part.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return null;
  for (const [script, language] of SCRIPTS) {
    if ((part.match(script)?.length ?? 0) > letters / 10) return language;
  }
  return byWords(part);
};

/**
 * The language of a few words cannot be detected. Then the letters decide: English uses only ASCII
 * letters.
 */
export const mayBeEnglish = async (text: string): Promise<boolean> => {
  const language = await detectLanguage(text);
  return language === null ? isLatin(text) && !OTHER_LETTER.test(text) : language === 'en';
};

const OTHER_LETTER = /(?![a-z])\p{L}/iu;

export const isLatin = (text: string): boolean => {
  const part = text.slice(0, READ);
  const letters = part.match(/\p{L}/gu)?.length ?? 0;
  return letters > 0 && (part.match(/[a-z]/gi)?.length ?? 0) > letters * 0.8;
};

let lists: Promise<[string, Set<string>][]> | null = null;

const loadLists = async (): Promise<[string, Set<string>][]> => {
  const { deu, eng, fra, ita, nld, por, spa } = await import('stopword');
  const languages = { en: eng, de: deu, fr: fra, it: ita, nl: nld, pt: por, es: spa };
  return Object.entries(languages).map(([code, words]) => [code, new Set(words.map(foldText))]);
};

const byWords = async (text: string): Promise<string | null> => {
  lists ??= loadLists();
  const words = foldText(text).match(/\p{L}+/gu) ?? [];
  const scores = (await lists).map(([language, known]) => ({
    language,
    share: words.filter((word) => known.has(word)).length / words.length,
  }));
  const [best] = scores.sort((a, b) => b.share - a.share);
  return best && best.share >= MIN_SHARE ? best.language : null;
};
