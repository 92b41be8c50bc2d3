import type { Clock } from '../kernel/clock.js';
import type { Operation } from '../kernel/contract/operation.js';
import { createFairQueue } from '../kernel/fairqueue.js';
import type { OperationBeginner } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { AskModel } from './ask.js';
import type { KnowledgeIndex } from './contract.js';
import type { EmbedScheduler } from './embedscheduler.js';
import { type KnowledgeText, prepareEntry, UNTITLED } from './entries.js';
import { finishEntry, type IndexInput } from './operation.js';
import type { KnowledgeStore } from './queries.js';
import type { QueryVectorDeps } from './queryvector.js';
import type { SearchIndex } from './searchindex.js';

export interface KnowledgeDeps {
  store: Store;
  clock: Clock;
  entries: KnowledgeStore;
  index: SearchIndex;
  indexing: OperationBeginner<IndexInput>;
  askModel: AskModel;
  sources(): KnowledgeSources;
  embedding: QueryVectorDeps & Pick<EmbedScheduler, 'wanted'>;
}

export type IndexedPath = Pick<KnowledgeIndex, 'type' | 'patterns' | 'watch' | 'tags'> & {
  path: string;
};

export interface KnowledgeSources {
  url(userId: string, of: { url: string; tags: string[] }): Promise<Operation>;
  document(userId: string, of: { documentId: string; tags: string[] | null }): Promise<Operation>;
  path(userId: string, of: IndexedPath): Promise<Operation>;
}

/** Longer texts are processed one at a time. */
const LARGE_CHARS = 100_000;
/** One at a time, because splitting uses about ten times the size of the text as memory. */
const largeTexts = createFairQueue({ atOnce: 1, waiting: Number.POSITIVE_INFINITY });

export const beginEntry = async (
  deps: KnowledgeDeps,
  text: KnowledgeText,
): Promise<{ id: string; operation: Operation }> =>
  typeof text.text === 'string' && text.text.length > LARGE_CHARS
    ? largeTexts.take(text.userId, () => storeAndBegin(deps, text))
    : storeAndBegin(deps, text);

const storeAndBegin = async (
  deps: KnowledgeDeps,
  text: KnowledgeText,
): Promise<{ id: string; operation: Operation }> => {
  const { id, chunks, transactions } = await prepareEntry(deps, text);
  const steps: TransactionStep[] = [];
  for await (const some of transactions) steps.push(...some);
  const operation = await deps.indexing.begin(
    {
      userId: text.userId,
      resource: { kind: 'knowledge', id },
      title: `Indexing of ${text.title}`.slice(0, 200),
      input: { entryId: id },
      progress: { total: chunks, unit: 'chunks' },
    },
    steps,
  );
  return { id, operation };
};

/** Returns the ID, and the reason if indexing failed. */
export const indexText = async (
  deps: KnowledgeDeps,
  text: KnowledgeText,
): Promise<{ id: string; error: string | null }> => {
  const { id, transactions } = await prepareEntry(deps, text);
  for await (const steps of transactions) await deps.store.transact(steps);
  const finished = await finishEntry(deps, text.userId, id);
  if (finished) await deps.store.transact([finished.step]);
  return { id, error: finished?.error ?? null };
};

const MAX_TITLE_LENGTH = 100;

export const deriveTitle = (text: string): string => {
  const line = /[^\s#].*/.exec(text)?.[0].trim() ?? '';
  if (line === '') return UNTITLED;
  return line.length > MAX_TITLE_LENGTH
    ? `${line.slice(0, MAX_TITLE_LENGTH - 1).trimEnd()}…`
    : line;
};
