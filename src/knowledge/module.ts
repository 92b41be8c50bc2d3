import type { Base } from '../base.js';
import type { Resource } from '../kernel/route.js';
import type { Operations } from '../operations/module.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { KnowledgeEntryRow } from '../store/tables/knowledge.js';
import { type KnowledgeActions, knowledgeActions } from './actions.js';
import type { AskModel } from './ask.js';
import { openBuiltin } from './embedders/builtin.js';
import { type EmbedderReport, type EmbedderSource, openEmbedders } from './embedders/registry.js';
import { embedOperation } from './embedoperation.js';
import { embedStore, type KnowledgeAmount } from './embedqueries.js';
import { createEmbedQueue } from './embedqueue.js';
import { createEmbedScheduler } from './embedscheduler.js';
import { type KnowledgeText, type PreparedEntry, prepareEntry } from './entries.js';
import { finishEntry, indexOperation } from './operation.js';
import { hasVectorFunctions } from './procedures/vectors.js';
import { type KnowledgeLabels, type KnowledgeSourceRef, knowledgeStore } from './queries.js';
import { knowledgeResource } from './routes.js';
import { openSearchIndex } from './searchindex.js';
import { indexText, type KnowledgeDeps, type KnowledgeSources } from './service.js';

export type { KnowledgeActions } from './actions.js';
export { CITABLE_TYPES, stripQuerySyntax } from './ask.js';
export { knowledgeTag } from './contract.js';
export { DayLimitReached, type Embedder, EmbedderFailed } from './embedders/embedder.js';
export type { EmbedderReport, EmbedderSource } from './embedders/registry.js';
export type { KnowledgeAmount } from './embedqueries.js';
export { sanitizeModelText } from './modeltext.js';
export type { KnowledgeLabels } from './queries.js';
export {
  extractJson,
  isSupportedByQuotes,
  numbersIn,
  parseSentences,
  type QuotedSentence,
  quoteFinder,
} from './quotes.js';
export type { IndexedPath } from './service.js';

export interface KnowledgeTexts {
  /**
   * Splits a text and builds the transactions that write it, for an operation that commits them
   * with its checkpoints. Call `finish` after the last one. An existing entry of the same source is
   * replaced.
   */
  prepare(text: KnowledgeText): Promise<PreparedEntry>;
  /** Waits until an entry can be searched. Returns the reason if it cannot, or null. */
  finish(userId: string, entryId: string): Promise<string | null>;
  /** Prepares, commits and finishes an entry. */
  index(text: KnowledgeText): Promise<{ id: string; error: string | null }>;
  /** Call `changed` after the commit. */
  removal(
    userId: string,
    sourceType: KnowledgeEntryRow['source_type'],
    sourceId: string,
  ): TransactionStep;
  /** Call `changed` after the commit. */
  relabel(userId: string, source: KnowledgeSourceRef, labels: KnowledgeLabels): TransactionStep[];
  /** Makes the index read committed changes. */
  changed(): void;
}

export interface Knowledge {
  actions: KnowledgeActions;
  texts: KnowledgeTexts;
  handle(sources: Partial<KnowledgeSources>): void;
  answerWith(ask: AskModel): void;
  embedWith(source: EmbedderSource): void;
  /** Call after the embedding model may have changed. */
  embedAnew(): void;
  /** Call after entries of an owner were moved or deleted by others. */
  moved(): void;
  amount(): Promise<KnowledgeAmount>;
  /** Takes at most 2 s. */
  reportEmbedder(userId: string): Promise<EmbedderReport>;
  start(): Promise<void>;
  stop(): Promise<void>;
  resources(): Resource[];
}

interface KnowledgeOptions {
  operations: Operations;
  confinement: Confinement | null;
  /** If false, vectors require a model that is routed to embeddings. */
  builtinEmbedder: boolean;
}

export const openKnowledge = (
  { store, clock, log, home }: Base,
  { operations, confinement, builtinEmbedder: isBuiltinOn }: KnowledgeOptions,
): Knowledge => {
  const entries = knowledgeStore(store);
  const vectors = embedStore(store);
  const index = openSearchIndex({ store, clock, log, home });
  const builtin = openBuiltin({ home, clock, confinement });
  const embedders = openEmbedders({
    store,
    clock,
    builtin,
    comparesVectors: hasVectorFunctions(),
    isBuiltinOn,
  });
  const turns = createEmbedQueue();
  const scheduler = createEmbedScheduler({
    store,
    log,
    embedders,
    vectors,
    turns,
    operations: operations.register(embedOperation({ embedders, vectors, index, turns })),
  });
  const indexing = operations.register(indexOperation({ entries, index, embedding: scheduler }));
  let ask: AskModel = () => Promise.reject(new Error('No module provides model calls'));
  const askModel: AskModel = (question) => ask(question);
  const sources: KnowledgeSources = {
    url: unsupportedSource,
    document: unsupportedSource,
    path: unsupportedSource,
  };
  const deps: KnowledgeDeps = {
    store,
    clock,
    entries,
    index,
    indexing,
    askModel,
    sources: () => sources,
    embedding: { embedders, vectors, wanted: scheduler.wanted },
  };
  const embedAnew = (): void => {
    scheduler.reconcile().catch((error) => {
      log.error({ error: String(error) }, 'embedder could not be changed');
    });
  };
  return {
    actions: knowledgeActions(deps),
    texts: {
      prepare: (text) => prepareEntry(deps, text),
      finish: async (userId, entryId) => {
        const finished = await finishEntry(deps, userId, entryId);
        if (!finished) return 'The entry was deleted';
        await store.transact([finished.step]);
        return finished.error;
      },
      index: (text) => indexText(deps, text),
      removal: entries.removal,
      relabel: entries.relabel,
      changed: index.changed,
    },
    handle: (handlers) => void Object.assign(sources, handlers),
    answerWith: (newAsk) => {
      ask = newAsk;
    },
    embedWith: embedders.use,
    embedAnew,
    moved: () => {
      index.changed();
      embedAnew();
    },
    amount: vectors.amount,
    reportEmbedder: embedders.report,
    start: async () => {
      await index.start();
      await scheduler.start();
    },
    stop: async () => {
      await Promise.all([index.close(), builtin.close()]);
    },
    resources: () => [knowledgeResource(deps)],
  };
};

const unsupportedSource = (): Promise<never> =>
  Promise.reject(new Error('No module reads this source'));
