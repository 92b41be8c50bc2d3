import { isBoom } from '@hapi/boom';
import { sql } from 'kysely';
import type { Store } from '../store/store.js';
import type { KnowledgeChunkRow, KnowledgeEntryRow } from '../store/tables/knowledge.js';
import { visibleTo } from '../store/visible.js';
import { askKnowledge } from './ask.js';
import type { KnowledgeAnswer, KnowledgeSearch } from './contract.js';
import type { FoundChunk } from './procedures/find.js';
import { searchKnowledge } from './search.js';
import { beginEntry, deriveTitle, type KnowledgeDeps } from './service.js';

/**
 * Text that a tool stores. Text from an untrusted agent or an agent of a hook has the trust
 * `outside`.
 */
export interface NoteInput {
  text: string;
  title?: string | undefined;
  tags?: string[] | undefined;
  /** `null` for a person or a run. */
  agentId: string | null;
  executionId: string | null;
  /** ID of the tool call. It is the same for all retries, so that only one note is stored. */
  effectId: string;
}

export interface ReadChunk {
  entry: Pick<KnowledgeEntryRow, 'title' | 'source_type' | 'uri' | 'trust' | 'chunks'>;
  chunk: Pick<KnowledgeChunkRow, 'text' | 'page' | 'heading'>;
}

export interface KnowledgeActions {
  /** Returns null if the query contains no search word. */
  search(
    userId: string,
    query: string,
    limit: number,
    filters?: KnowledgeSearch['filters'],
  ): Promise<FoundChunk[] | null>;
  read(userId: string, entryId: string, number: number): Promise<ReadChunk | null>;
  /** `trust` is `outside` if the model read text with that trust. */
  ask(
    userId: string,
    question: string,
    signal: AbortSignal,
  ): Promise<KnowledgeAnswer & { trust: KnowledgeEntryRow['trust'] }>;
  index(
    userId: string,
    text: NoteInput,
  ): Promise<{ entryId: string; trust: KnowledgeEntryRow['trust'] }>;
}

export const knowledgeActions = (deps: KnowledgeDeps): KnowledgeActions => ({
  search: async (userId, query, limit, filters) => {
    try {
      return (await searchKnowledge(deps, userId, { query, limit, filters })).chunks;
    } catch (error) {
      if (isBoom(error) && error.output.statusCode === 400) return null;
      throw error;
    }
  },
  read: async (userId, entryId, number) => {
    const entry = await deps.entries.get(userId, entryId);
    const chunk = entry && (await deps.entries.chunk(userId, entryId, number));
    return entry && chunk ? { entry, chunk } : null;
  },
  ask: async (userId, question, signal) => {
    const { answer, isOutside } = await askKnowledge(deps, { userId, question, signal });
    return { ...answer, trust: isOutside ? 'outside' : 'owner' };
  },
  index: async (userId, { text, title = deriveTitle(text), tags = [], ...caller }) => {
    const { agentId, executionId, effectId } = caller;
    const isOwn =
      agentId === null ? executionId === null : await isTrusted(deps.store, userId, agentId);
    const trust = isOwn ? 'owner' : 'outside';
    const source = { sourceType: 'note' as const, sourceId: effectId, uri: null };
    const { id } = await beginEntry(deps, { userId, ...source, title, tags, trust, text });
    return { entryId: id, trust };
  },
});

const isTrusted = async ({ db }: Store, userId: string, agentId: string): Promise<boolean> => {
  const found = db
    .selectFrom('agents')
    .select(sql<number>`1`.as('found'))
    .where(visibleTo(userId))
    .where('id', '=', agentId)
    .where('untrusted', '=', 0);
  return (await found.executeTakeFirst()) !== undefined;
};
