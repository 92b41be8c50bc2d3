import { searchWords } from '../kernel/searchwords.js';
import { textTokens } from '../providers/llm/tokens.js';
import type { RecalledMemory } from './procedures.js';
import type { MemoriesStore } from './queries.js';

/** Maximum tokens of memories in a prompt. */
const MAX_TOKENS = 2000;
/** Maximum memories read per kind. */
const MAX_READ = 100;

/** One line each, pinned first, up to the token limit. */
export const recall = async (
  memories: Pick<MemoriesStore, 'recall'>,
  userId: string,
  lastMessage: string,
): Promise<string[]> => {
  const { pinned, matching } = await memories.recall(
    userId,
    await searchWords(lastMessage),
    MAX_READ,
  );
  const distinct = new Map(
    [...pinned, ...matching].map((each) => [each.id, formatMemoryLine(each)]),
  );
  const lines: string[] = [];
  let room = MAX_TOKENS;
  for (const line of distinct.values()) {
    room -= textTokens(line);
    if (room < 0) break;
    lines.push(line);
  }
  return lines;
};

/** On one line, so that the text cannot imitate other parts of the prompt. */
const formatMemoryLine = ({ about, text }: RecalledMemory): string =>
  `- (${about}) ${text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()}`;
