import type { Streams } from '../context.js';
import { oneLine } from '../text.js';
import { candidates } from './candidates.js';

/** Answers a shell that completes; says nothing at all where anything goes wrong. */
export const answer = async (words: string[], streams: Streams): Promise<void> => {
  const lines = await candidates(words, streams).then(linesOf, () => []);
  for (const line of lines) streams.stdout.write(`${line}\n`);
};

const linesOf = (fitting: Awaited<ReturnType<typeof candidates>>): string[] =>
  fitting === 'files'
    ? [':files']
    : fitting.map(({ word, about }) => (about ? `${word}\t${oneLine(about)}` : word));
