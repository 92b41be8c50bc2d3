import { type Clock, iso } from '../kernel/clock.js';
import { mint } from '../kernel/ids.js';
import { searchWords } from '../kernel/searchwords.js';
import type { MemoryRow } from '../store/tables/memories.js';
import type { RecalledMemory } from './procedures.js';
import type { MemoriesStore } from './queries.js';

export interface SavedMemory {
  text: string;
  about: MemoryRow['about'];
  /** Null for a person, or a run. */
  agentId: string | null;
  /** Makes the memory unconfirmed. */
  executionId: string | null;
  runId?: string;
}

export interface SaveOutcome {
  id: string;
  confirmed: boolean;
  isNew: boolean;
}

export interface MemoryActions {
  /** Null if the limit is reached. */
  save(userId: string, memory: SavedMemory): Promise<SaveOutcome | null>;
  search(userId: string, query: string, limit: number): Promise<RecalledMemory[]>;
  forget(userId: string, id: string): Promise<boolean>;
}

interface ActionsDeps {
  clock: Clock;
  memories: MemoriesStore;
  saved(row: MemoryRow): void;
}

export const memoryActions = ({ clock, memories, saved }: ActionsDeps): MemoryActions => ({
  save: async (userId, { text: given, about, agentId, executionId, runId }) => {
    const now = clock.now();
    const text = given.trim();
    const row = {
      id: mint('memory', now),
      user_id: userId,
      text,
      about,
      pinned: 0,
      created_by: agentId ?? executionId ?? runId ?? 'person',
      confirmed: executionId === null ? 1 : 0,
      created_at: iso(now),
      updated_at: iso(now),
    };
    const isNew = await memories.insert(row, await searchWords(text), { agentId });
    const kept = await memories.withText(userId, text);
    if (!kept) return null;
    if (isNew) saved(kept);
    return { id: kept.id, confirmed: kept.confirmed === 1, isNew };
  },
  search: async (userId, query, limit) =>
    (await memories.recall(userId, await searchWords(query), limit)).matching,
  forget: memories.delete,
});
