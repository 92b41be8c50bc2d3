import type { Clock } from '../kernel/clock.js';
import type { Operation } from '../kernel/contract/operation.js';
import { createTurns } from '../kernel/fairqueue.js';
import type { OperationBeginner } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { Store } from '../store/store.js';
import type { AskModel } from './ask.js';
import type { KnowledgeIndex } from './contract.js';
import type { EmbedScheduler } from './embedscheduler.js';
import { type KnowledgeText, prepareEntry, UNTITLED } from './entries.js';
import { finishEntry, type IndexInput } from './operation.js';
import type { KnowledgeStore } from './queries.js';
import type { MeaningDeps } from './queryvector.js';
import type { SearchIndex } from './searchindex.js';

export interface KnowledgeDeps {
  store: Store;
  clock: Clock;
  entries: KnowledgeStore;
  index: SearchIndex;
  /** Begins the operation that makes an entry searchable. */
  indexing: OperationBeginner<IndexInput>;
  askModel: AskModel;
  /** Returns the functions that index what is no text. */
  sources(): KnowledgeSources;
  embedding: MeaningDeps & Pick<EmbedScheduler, 'wanted'>;
}

/** A folder or a file of the machine that is to be indexed. */
export type IndexedPath = Pick<KnowledgeIndex, 'type' | 'patterns' | 'watch' | 'tags'> & {
  path: string;
};

/** The functions that begin to index what is no text yet. Each is of the module that reads it. */
export interface KnowledgeSources {
  url(userId: string, of: { url: string; tags: string[] }): Promise<Operation>;
  document(userId: string, of: { documentId: string; tags: string[] | null }): Promise<Operation>;
  path(userId: string, of: IndexedPath): Promise<Operation>;
}

/** Ours: the characters of a text above which it waits for its turn. */
const LARGE_CHARS = 100_000;
/** Ours: one at once, because it takes some ten times its size of memory. */
const largeTexts = createTurns({ atOnce: 1, waiting: Number.POSITIVE_INFINITY });

/** Stores a text as an entry, and begins the operation that makes it searchable. */
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

/** Stores a text as an entry and makes it searchable. Returns its id, and why it failed, if so. */
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

/** Ours: the longest title that a text gives itself. */
const MAX_TITLE_LENGTH = 100;

/** Returns the first line of a text as its title, without the marks of a heading. */
export const titleOf = (text: string): string => {
  const line = /[^\s#].*/.exec(text)?.[0].trim() ?? '';
  if (line === '') return UNTITLED;
  return line.length > MAX_TITLE_LENGTH
    ? `${line.slice(0, MAX_TITLE_LENGTH - 1).trimEnd()}…`
    : line;
};
