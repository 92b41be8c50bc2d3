import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import type { Embedder } from './embedders/embedder.js';
import type { Embedders } from './embedders/registry.js';
import type { ChunkToEmbed, EmbedStore, NumberedEmbedder } from './embedqueries.js';
import type { EmbedQueue } from './embedqueue.js';
import { embedSteps } from './embedsteps.js';
import { embedWithRetry, type RetryingEmbedCall } from './embedwithretry.js';
import { textToEmbed } from './procedures/hash.js';
import { isLatin } from './procedures/language.js';
import type { SearchIndex } from './searchindex.js';

export interface EmbedCheckpoint {
  done: number;
  total: number;
}

export interface EmbedDeps {
  embedders: Embedders;
  vectors: EmbedStore;
  index: Pick<SearchIndex, 'changed' | 'settled' | 'nearest'>;
  turns: EmbedQueue;
}

export const EMBED_KIND = 'knowledge.embed';

type EmbedRun = OperationRun<object, EmbedCheckpoint>;

const UNIT = 'chunks';

/**
 * Creates vectors for waiting chunks, batch by batch. Its state is in the database, so that it can
 * resume at any time.
 */
export const embedOperation = (deps: EmbedDeps): OperationKind<object, EmbedCheckpoint> => ({
  kind: EMBED_KIND,
  isResumable: true,
  isAdmins: false,
  run: async (run) => {
    if (!deps.turns.enter(run.userId, run.id)) return completed(0);
    try {
      return await embedAll(deps, run);
    } finally {
      deps.turns.leave(run.userId, run.id);
    }
  },
  ended: ({ user_id, id }) => {
    deps.turns.leave(user_id, id);
    return [];
  },
});

const completed = (chunks: number): OperationEnd => ({ status: 'completed', result: { chunks } });

const MAX_NAMED = 3;

const notFoundEnd = (unverified: Set<string>): OperationEnd => {
  const named = [...unverified].slice(0, MAX_NAMED).join(', ');
  return {
    status: 'failed',
    error: `Vector search does not find ${unverified.size} entries: ${named}`,
  };
};

const embedAll = async (deps: EmbedDeps, run: EmbedRun): Promise<OperationEnd> => {
  const { embedders, vectors, turns } = deps;
  const { userId } = run;
  const at = run.checkpoint ?? { done: 0, total: 0 };
  const unverified = new Set<string>();
  let isNew = true;
  for (;;) {
    const embedder = embedders.inForce();
    if (!embedder) return { status: 'failed', error: embedders.whyNone() };
    const { isSwitched, ...numbered } = await prepareNumberedEmbedder(deps, embedder);
    if (isNew || isSwitched) await prepare(deps, run, at, numbered);
    const batch = await vectors.chunks(userId, numbered, embedder.atOnce);
    await embedBatch(deps, run, { at, embedder, numbered, batch });
    const isDone =
      !(await finishEntries(deps, run, at, { ...numbered, unproved: unverified })) &&
      batch.length === 0;
    if (isDone) await switchSearches(deps, run, at, numbered);
    isNew = turns.takeNews(userId);
    if (isDone && !isNew) return unverified.size > 0 ? notFoundEnd(unverified) : completed(at.done);
  }
};

const prepareNumberedEmbedder = async (
  { embedders, vectors }: EmbedDeps,
  embedder: Embedder,
): Promise<NumberedEmbedder & { isSwitched: boolean }> => {
  const { key, name, isEnglish } = embedder;
  const id = await embedders.idOf(embedder);
  const isSwitched = (await vectors.key()) !== key;
  if (isSwitched) await vectors.begin(id, key);
  return { id, key, name, isEnglish, isSwitched };
};

const prepare = async (
  deps: EmbedDeps,
  run: EmbedRun,
  at: EmbedCheckpoint,
  numbered: NumberedEmbedder,
): Promise<void> => {
  const { vectors } = deps;
  const { userId, signal } = run;
  while (await vectors.addHashes(userId)) signal.throwIfAborted();
  if (numbered.isEnglish) await commit(run, at, [embedSteps.skipOthers(userId, numbered)]);
  at.total = at.done + (await vectors.lacking(userId, numbered));
};

const commit = (run: EmbedRun, at: EmbedCheckpoint, steps: TransactionStep[]): Promise<void> => {
  const progress = { done: at.done, total: Math.max(at.total, at.done), unit: UNIT, note: null };
  return run.commit(steps, { checkpoint: at, progress });
};

interface EmbedBatch {
  at: EmbedCheckpoint;
  embedder: Embedder;
  numbered: NumberedEmbedder;
  batch: ChunkToEmbed[];
}

const embedBatch = async (
  deps: EmbedDeps,
  run: EmbedRun,
  { at, embedder, numbered, batch }: EmbedBatch,
): Promise<void> => {
  const distinct = [...new Map(batch.map((chunk) => [chunk.hash, chunk])).values()];
  const supported = distinct.filter((chunk) => isSupported(embedder, chunk));
  const { userId, id, signal } = run;
  const tell = (note: string): void =>
    run.progress({ done: at.done, total: at.total, unit: UNIT, note });
  const call: RetryingEmbedCall = { use: 'document', userId, askedBy: id, signal, tell };
  const vectorsOfBatch = await embedWithRetry(
    deps.embedders,
    embedder,
    supported.map(textToEmbed),
    call,
  );
  if (!vectorsOfBatch) return;
  const byHash = new Map(supported.map(({ hash }, n) => [hash, vectorsOfBatch[n] ?? null]));
  const steps = distinct.map(({ hash }) =>
    embedSteps.insert(run.userId, numbered.id, { hash, vector: byHash.get(hash) ?? null }),
  );
  if (steps.length === 0) return;
  at.done += batch.length;
  await commit(run, at, steps);
};

/** The language of a short text cannot be detected. Then its letters decide. */
const isSupported = ({ isEnglish }: Embedder, { language, text }: ChunkToEmbed): boolean =>
  !isEnglish || language !== null || isLatin(text);

/**
 * Marks entries whose chunks all have vectors, once a vector search finds them. Others are added to
 * `unproved`. Returns true if there were any entries.
 */
const finishEntries = async (
  deps: EmbedDeps,
  run: EmbedRun,
  at: EmbedCheckpoint,
  { unproved: unverified, ...numbered }: NumberedEmbedder & { unproved: Set<string> },
): Promise<boolean> => {
  const { vectors, index } = deps;
  const { userId } = run;
  const ids = await vectors.complete(userId, numbered, unverified);
  if (ids.length === 0) return false;
  await commit(
    run,
    at,
    ids.map((id) => embedSteps.change(id, 'vectors')),
  );
  await index.settled();
  for (const id of ids) if (!(await isFoundByVector(deps, run, id, numbered))) unverified.add(id);
  const current = await vectors.current(userId);
  const isCurrent = current === undefined || current === numbered.id;
  await commit(
    run,
    at,
    ids
      .filter((id) => !unverified.has(id))
      .map((id) => embedSteps.take(userId, id, { ...numbered, isCurrent })),
  );
  return true;
};

const isFoundByVector = async (
  { vectors, index }: EmbedDeps,
  { userId, signal }: EmbedRun,
  entryId: string,
  { id }: NumberedEmbedder,
): Promise<boolean> => {
  signal.throwIfAborted();
  const vector = await vectors.vectorOf(userId, entryId, id);
  if (!vector) return true;
  if (await index.nearest({ userId, embedder: id, vector, entryId })) return true;
  // It may have been deleted or replaced in the meantime.
  return !(await vectors.vectorOf(userId, entryId, id));
};

/** Switches the searches of the user to the new vectors when all exist. */
const switchSearches = async (
  deps: EmbedDeps,
  run: EmbedRun,
  at: EmbedCheckpoint,
  numbered: NumberedEmbedder,
): Promise<void> => {
  const { vectors, index } = deps;
  const { userId } = run;
  const isCurrent = (await vectors.current(userId)) === numbered.id;
  if (isCurrent && !(await vectors.hasOthers(userId, numbered.id))) return;
  const steps = [...embedSteps.switchTo(userId, numbered), embedSteps.change(userId, 'owner')];
  await commit(run, at, steps);
  index.changed();
};
