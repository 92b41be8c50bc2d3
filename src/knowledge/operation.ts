import type { OperationKind } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import { findMissingPhrase } from './canary.js';
import type { EmbedScheduler } from './embedscheduler.js';
import type { KnowledgeStore } from './queries.js';
import type { SearchIndex } from './searchindex.js';

export interface IndexInput {
  entryId: string;
}

interface FinishDeps {
  entries: KnowledgeStore;
  index: SearchIndex;
  embedding: Pick<EmbedScheduler, 'wanted'>;
}

interface FinishedEntry {
  error: string | null;
  chunks: number;
  step: TransactionStep;
}

/**
 * Waits until the index contains an entry, then searches for phrases of it. Returns null if the
 * entry was deleted.
 */
export const finishEntry = async (
  { entries, index, embedding }: FinishDeps,
  userId: string,
  id: string,
): Promise<FinishedEntry | null> => {
  await index.settled();
  const entry = await entries.get(userId, id);
  if (!entry) return null;
  embedding.wanted(userId);
  const missing = await findMissingPhrase({ entries, index }, entry);
  const error =
    missing === null ? null : `Search does not find the phrase “${missing}” of this entry`;
  const status = error === null ? 'ready' : 'failed';
  return { error, chunks: entry.chunks, step: entries.settle(userId, id, { status, error }) };
};

/**
 * Makes an entry searchable and verifies that a search finds its phrases. It can be restarted at
 * any time.
 */
export const indexOperation = (deps: FinishDeps): OperationKind<IndexInput, null> => ({
  kind: 'knowledge.index',
  isResumable: true,
  isAdmins: false,
  // A user may add notes faster than the index processes them.
  most: 10_000,
  run: async ({ userId, input: { entryId }, signal, commit }) => {
    const finished = await finishEntry(deps, userId, entryId);
    signal.throwIfAborted();
    if (!finished) return { status: 'failed', error: 'The entry was deleted' };
    const { error, chunks, step } = finished;
    const progress = { done: chunks, total: chunks, unit: 'chunks', note: null };
    await commit([step], { checkpoint: null, progress });
    if (error !== null) return { status: 'failed', error };
    return { status: 'completed', result: { entryId, chunks } };
  },
  ended: ({ user_id, input }, status) => {
    if (status === 'completed') return [];
    const { entryId }: IndexInput = JSON.parse(input);
    const error = status === 'cancelled' ? 'Indexing was cancelled' : 'Indexing failed';
    return [deps.entries.settle(user_id, entryId, { status: 'failed', error })];
  },
});
