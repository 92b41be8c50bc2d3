import { setImmediate as breathe } from 'node:timers/promises';
import { searchWords } from '../kernel/searchwords.js';

/** A source as it is given to a model. */
interface ShownSource {
  n: number;
  title: string;
  text: string;
}

/** Ours: the characters of one source that a model is given, and the fewest that are worth it. */
const MAX_CHARS = 6_000;
const MIN_CHARS = 400;
/** Ours: the characters of a passage. */
const PASSAGE_CHARS = 600;
const LEFT_OUT = '\n[…]\n';
/** The characters that one source takes beside its text. */
const HEADING_CHARS = 400;

/**
 * Writes sources below each other, each with its number and the passages that fit the question best.
 * Those for which there is no room are left out. `mark` stands in each heading, so that no text can
 * pass for another source.
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

/** Returns the passages of a text that fit the words best, in their order, within a length. */
const bestPassages = async (text: string, words: Set<string>, chars: number): Promise<string> => {
  if (text.length <= chars) return text.trim();
  const passages = passagesOf(text, PASSAGE_CHARS);
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

/** Ours: the characters of a sentence that is quoted where no model writes. */
const SENTENCE_CHARS = 300;

/** Returns the sentences of a text that fit the question best, in their order. */
export const bestSentences = async (
  text: string,
  question: string,
  count: number,
): Promise<string[]> => {
  const words = new Set(await searchWords(question));
  const sentences = sentencesOf(text);
  const ranked = (await rankedBy(sentences, words)).slice(0, count);
  return ranked.sort((a, b) => a - b).flatMap((at) => sentences[at] ?? []);
};

const sentencesOf = (text: string): string[] =>
  passagesOf(text, PASSAGE_CHARS).flatMap((passage) =>
    passage
      .split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
      .map((sentence) => sentence.trim().slice(0, SENTENCE_CHARS).trim())
      .filter((sentence) => sentence.length >= 3),
  );

/** Returns the places of texts, those with most of the words first, of equals the earlier ones. */
const rankedBy = async (texts: string[], words: Set<string>): Promise<number[]> => {
  // A long text takes some time, in which others are to be served.
  await breathe();
  const scored: { at: number; score: number }[] = [];
  for (const [at, text] of texts.entries()) {
    if (at % 50 === 49) await breathe();
    const found = (await searchWords(text)).filter((word) => words.has(word));
    scored.push({ at, score: found.length });
  }
  return scored.sort((a, b) => b.score - a.score || a.at - b.at).map(({ at }) => at);
};

/** Cuts a text at its lines, and longer ones between words, so that nothing of it is lost. */
const passagesOf = (text: string, most: number): string[] => {
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
