import { normalForm } from '../kernel/normalform.js';
import type { KnowledgeEntryRow } from '../store/tables/knowledge.js';
import type { KnowledgeStore } from './queries.js';
import type { SearchIndex } from './searchindex.js';

const PHRASE_WORDS = 5;
const PHRASE_SIGNS = 6;

const WORDS = new RegExp(
  `(?<![\\p{L}\\p{N}\\p{M}\\p{Co}])(?:[\\p{sc=Latin}\\p{N}\\p{M}]+[ \\n]+){2,${PHRASE_WORDS}}`,
  'u',
);
const SIGNS = new RegExp(`[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}]{2,${PHRASE_SIGNS}}`, 'u');

/**
 * Searches for phrases of the first, middle and last chunk of an entry. Returns a phrase that is
 * not found, or null.
 */
export const findMissingPhrase = async (
  { entries, index }: { entries: KnowledgeStore; index: Pick<SearchIndex, 'find'> },
  { id, user_id: userId, chunks }: KnowledgeEntryRow,
): Promise<string | null> => {
  const numbers = new Set([0, Math.floor(chunks / 2), chunks - 1]);
  for (const number of [...numbers].filter((each) => each >= 0)) {
    const phrase = findPhrase((await entries.chunk(userId, id, number))?.text ?? '');
    if (phrase === null) continue;
    const filter = { entryIds: [id] };
    const search = { userId, query: `"${phrase}"`, filter, limit: 1, meaning: null, byWords: true };
    const { results } = await index.find(search);
    if (!results || results.length === 0) return phrase;
  }
  return null;
};

const findPhrase = (written: string): string | null => {
  const text = normalForm(written);
  const found = WORDS.exec(text) ?? SIGNS.exec(text);
  return found ? found[0].replace(/\s+/g, ' ').trim() : null;
};
