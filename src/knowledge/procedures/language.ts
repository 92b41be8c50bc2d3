import { foldText } from '../../kernel/searchwords.js';

/** The characters of a text that are read for its language. */
const READ = 20_000;
/** Ours: the least share of words without a subject by which a language is told. */
const LEAST_SHARE = 0.15;

/** Scripts that tell a language by themselves, in the order in which they are looked for. */
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

/** Returns the language of a text as its code of two letters, or null if it cannot be told. */
export const languageOf = async (text: string): Promise<string | null> => {
  const part = text.slice(0, READ);
  const letters = part.match(/\p{L}/gu)?.length ?? 0;
  if (letters === 0) return null;
  for (const [script, language] of SCRIPTS) {
    if ((part.match(script)?.length ?? 0) > letters / 10) return language;
  }
  return byWords(part);
};

const byWords = async (text: string): Promise<string | null> => {
  const { deu, eng, fra, ita, nld, por, spa } = await import('stopword');
  const languages = { en: eng, de: deu, fr: fra, it: ita, nl: nld, pt: por, es: spa };
  const words = foldText(text).match(/\p{L}+/gu) ?? [];
  const scores = Object.entries(languages).map(([language, list]) => {
    const known = new Set(list.map(foldText));
    return { language, share: words.filter((word) => known.has(word)).length / words.length };
  });
  const [best] = scores.sort((a, b) => b.share - a.share);
  return best && best.share >= LEAST_SHARE ? best.language : null;
};
