import { searchWords } from '../kernel/searchwords.js';
import { textTokens } from '../providers/llm/tokens.js';
import type { RecalledMemory } from './procedures.js';
import type { MemoriesStore } from './queries.js';

/** Ours: the most tokens of memories that a conversation is given. */
const MAX_TOKENS = 2000;
/** The most of each kind that are read. */
const MAX_READ = 100;

/**
 * Returns the memories for a conversation in which this was said last, one line each: the pinned
 * ones, then those that fit it best, as far as there is room.
 */
export const recall = async (
  memories: Pick<MemoriesStore, 'recall'>,
  userId: string,
  said: string,
): Promise<string[]> => {
  const { pinned, matching } = await memories.recall(userId, await searchWords(said), MAX_READ);
  const distinct = new Map([...pinned, ...matching].map((each) => [each.id, lineOf(each)]));
  const lines: string[] = [];
  let room = MAX_TOKENS;
  for (const line of distinct.values()) {
    room -= textTokens(line);
    if (room < 0) break;
    lines.push(line);
  }
  return lines;
};

/** Returns a memory on one line, so that no text in it can look like another part of the prompt. */
const lineOf = ({ about, text }: RecalledMemory): string =>
  `- (${about}) ${text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()}`;
