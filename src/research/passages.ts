import { setImmediate as breathe } from 'node:timers/promises';
import { searchWords } from '../kernel/searchwords.js';

interface ShownSource {
  n: number;
  title: string;
  text: string;
}

/** Maximum and minimum number of characters of a source in a prompt. */
const MAX_CHARS = 6_000;
const MIN_CHARS = 400;
const PASSAGE_CHARS = 600;
const LEFT_OUT = '\n[…]\n';
const HEADING_CHARS = 400;

/**
 * Formats sources with their numbers and best matching passages. Sources that do not fit are left
 * out. `mark` is part of each heading, so that no text can imitate another source.
 */
export const sourceBlocks = async (
  sources: ShownSource[],
  { question, room, mark }: { question: string; room: number; mark: string },
): Promise<string> => {
  const most = Math.floor(room / (MIN_CHARS + HEADING_CHARS));
  const shown = sources.slice(0, Math.max(1, most));
  const each = Math.floor(room / Math.max(1, shown.length)) - HEADING_CHARS;
  const chars = Math.max(MIN_CHARS, Math.min(MAX_CHARS, each));
  const words = new Set(await searchWords(question));
  const blocks: string[] = [];
  for (const { n, title, text } of shown) {
    const passages = await bestPassages(text, words, chars);
    blocks.push(`--- Source ${n} ${mark}: ${title.slice(0, 200)} ---\n${passages}`);
  }
  return blocks.join('\n\n');
};

const bestPassages = async (text: string, words: Set<string>, chars: number): Promise<string> => {
  if (text.length <= chars) return text.trim();
  const passages = splitPassages(text, PASSAGE_CHARS);
  const ranked = await rankedBy(passages, words);
  const chosen = new Set<number>();
  let length = 0;
  for (const at of ranked) {
    length += (passages[at] ?? '').length + LEFT_OUT.length;
    if (length > chars && chosen.size > 0) break;
    chosen.add(at);
  }
  const inOrder = [...chosen].sort((a, b) => a - b);
  return inOrder
    .map((at, place) => {
      const isNext = place === 0 || inOrder[place - 1] === at - 1;
      return `${isNext ? '' : LEFT_OUT}${passages[at]}`;
    })
    .join('')
    .slice(0, chars)
    .trim();
};

const SENTENCE_CHARS = 300;

export const bestSentences = async (
  text: string,
  question: string,
  count: number,
): Promise<string[]> => {
  const words = new Set(await searchWords(question));
  const sentences = splitSentences(text);
  const ranked = (await rankedBy(sentences, words)).slice(0, count);
  return ranked.sort((a, b) => a - b).flatMap((at) => sentences[at] ?? []);
};

const splitSentences = (text: string): string[] =>
  splitPassages(text, PASSAGE_CHARS).flatMap((passage) =>
    passage
      .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
      .map((sentence) => sentence.trim().slice(0, SENTENCE_CHARS).trim())
      .filter((sentence) => sentence.length >= 3),
  );

/** Sorts by the number of matching words, then by position. */
const rankedBy = async (texts: string[], words: Set<string>): Promise<number[]> => {
  // Yields to the event loop, because long texts take time.
  await breathe();
  const scored: { at: number; score: number }[] = [];
  for (const [at, text] of texts.entries()) {
    if (at % 50 === 49) await breathe();
    const found = (await searchWords(text)).filter((word) => words.has(word));
    scored.push({ at, score: found.length });
  }
  return scored.sort((a, b) => b.score - a.score || a.at - b.at).map(({ at }) => at);
};

/** Cuts at line ends, and longer lines between words. No text is lost. */
const splitPassages = (text: string, most: number): string[] => {
  const passages: string[] = [];
  let passage = '';
  for (const line of text.split(/(?<=\n)/)) {
    if (passage !== '' && passage.length + line.length > most) {
      passages.push(passage);
      passage = '';
    }
    passage += line;
    while (passage.length > most) {
      const space = passage.lastIndexOf(' ', most);
      const end = space > most / 2 ? space + 1 : most;
      passages.push(passage.slice(0, end));
      passage = passage.slice(end);
    }
  }
  return passage === '' ? passages : [...passages, passage];
};
