import { dividedWords } from '../../kernel/normalform.js';
import { foldText, UNSPACED } from '../../kernel/searchwords.js';
import type { QueryMarks } from './query.js';
import { placedWords, stemWord, wordsLike } from './words.js';

/** Length of a snippet and of the text before its first match, in characters. */
const LENGTH = 240;
const BEFORE = 60;

type MarkedSpan = [from: number, to: number];

export interface ChunkSnippet {
  snippet: string;
  highlights: MarkedSpan[];
}

export const createChunkSnippet = (text: string, marks: QueryMarks): ChunkSnippet => {
  const matches = matchesIn(text, marks);
  const start = findSnippetStart(text, bestStart(matches));
  const end = findSnippetEnd(text, start);
  const before = start > 0 ? '…' : '';
  const after = end < text.trimEnd().length ? '…' : '';
  const snippet = `${before}${text.slice(start, end).replace(/\s/g, ' ').trimEnd()}${after}`;
  const shift = before.length - start;
  const highlights = joined(
    matches
      .filter(({ span: [from, to] }) => from >= start && to <= end)
      .map(({ span: [from, to] }): MarkedSpan => [from + shift, to + shift]),
  );
  return { snippet, highlights };
};

interface WordMatch {
  span: MarkedSpan;
  of: string;
}

const matchesIn = (text: string, { stems, runs, parts }: QueryMarks): WordMatch[] => {
  const wanted = new Set(stems);
  const words = parts.length > 0 ? placedWords(text) : wordsLike(text, stems);
  const spaced = [...words, ...dividedWords(text)].flatMap(({ word, from, to }): WordMatch[] => {
    const stem = stemWord(word);
    if (wanted.has(stem)) return [{ span: [from, to], of: stem }];
    const folded = parts.length > 0 ? foldText(word) : '';
    const part = parts.find((each) => folded.includes(each));
    return part === undefined ? [] : [{ span: [from, to], of: part }];
  });
  return [...spaced, ...runs.flatMap((run) => runMatches(text, run))].sort(
    (a, b) => a.span[0] - b.span[0],
  );
};

/** Finds the longest common substrings, of at least two characters. */
const runMatches = (text: string, run: string): WordMatch[] => {
  const signs = [...run];
  const shortest = Math.min(2, signs.length);
  const matches: WordMatch[] = [];
  for (const { 0: found, index } of text.matchAll(UNSPACED)) {
    for (let at = 0; at < signs.length; ) {
      const length = longestAt(found, signs, at);
      if (length >= shortest) {
        const piece = signs.slice(at, at + length).join('');
        for (let from = found.indexOf(piece); from >= 0; from = found.indexOf(piece, from + 1))
          matches.push({ span: [index + from, index + from + piece.length], of: piece });
      }
      at += Math.max(1, length);
    }
  }
  return matches;
};

const longestAt = (text: string, signs: string[], at: number): number => {
  let length = 0;
  while (at + length < signs.length && text.includes(signs.slice(at, at + length + 1).join('')))
    length++;
  return length;
};

const bestStart = (matches: WordMatch[]): number => {
  let best = { from: matches[0]?.span[0] ?? 0, words: 0 };
  for (const [at, { span }] of matches.entries()) {
    const limit = span[0] + LENGTH - BEFORE;
    const words = new Set<string>();
    for (let next = at; next < matches.length; next++) {
      const match = matches[next];
      if (!match || match.span[1] > limit) break;
      words.add(match.of);
    }
    if (words.size > best.words) best = { from: span[0], words: words.size };
  }
  return best.from;
};

const findSnippetStart = (text: string, match: number): number => {
  const from = Math.max(0, Math.min(match - BEFORE, text.trimEnd().length - LENGTH));
  if (from === 0) return text.length - text.trimStart().length;
  const space = text.slice(from, match).search(/\s\S/);
  return space < 0 ? aligned(text, from) : from + space + 1;
};

const findSnippetEnd = (text: string, start: number): number => {
  const limit = start + LENGTH;
  if (limit >= text.length) return text.length;
  const space = text.lastIndexOf(' ', limit);
  return space > start + LENGTH / 2 ? space : aligned(text, limit);
};

/** Avoids splitting a surrogate pair. */
const aligned = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
};

const joined = (spans: MarkedSpan[]): MarkedSpan[] => {
  const all: MarkedSpan[] = [];
  for (const [from, to] of spans) {
    const last = all.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
};
