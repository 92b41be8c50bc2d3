import type { OperationEnd, OperationKind, OperationRun } from '../operations/module.js';
import type { TransactionStep } from '../store/engine/protocol.js';
import {
  byteVector,
  DayLimitReached,
  type EmbedCall,
  type Embedder,
  EmbedderFailed,
} from './embedders/embedder.js';
import type { Embedders } from './embedders/registry.js';
import type { ChunkToEmbed, EmbedStore, NumberedEmbedder } from './embedqueries.js';
import { embedSteps } from './embedsteps.js';
import type { EmbedTurns } from './embedturns.js';
import { textToEmbed } from './hash.js';
import { isLatin } from './procedures/language.js';
import type { SearchIndex } from './searchindex.js';

/** The chunks that an operation has embedded so far, and those that it has to. */
export interface EmbedCheckpoint {
  done: number;
  total: number;
}

export interface EmbedDeps {
  embedders: Embedders;
  vectors: EmbedStore;
  index: Pick<SearchIndex, 'changed' | 'settled' | 'nearest'>;
  turns: EmbedTurns;
}

/** The kind of the operations that make vectors. */
export const EMBED_KIND = 'knowledge.embed';

type EmbedRun = OperationRun<object, EmbedCheckpoint>;

const UNIT = 'chunks';
/** Ours: the waits after a failure, in milliseconds: the first one, doubled up to the longest. */
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/**
 * The kind of operation that makes vectors of what waits for them, batch after batch. All that it has
 * to know is in the database, so that it goes on after any end.
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

const embedAll = async (deps: EmbedDeps, run: EmbedRun): Promise<OperationEnd> => {
  const { embedders, vectors, turns } = deps;
  const { userId } = run;
  const at = run.checkpoint ?? { done: 0, total: 0 };
  let isNew = true;
  for (;;) {
    const embedder = embedders.inForce();
    if (!embedder) return { status: 'failed', error: embedders.whyNone() };
    const { isSwitched, ...numbered } = await numberedOf(deps, embedder);
    if (isNew || isSwitched) await prepare(deps, run, at, numbered);
    const batch = await vectors.chunks(userId, numbered, embedder.atOnce);
    await embedBatch(deps, run, { at, embedder, numbered, batch });
    const isDone = !(await takeEntries(deps, run, at, numbered)) && batch.length === 0;
    if (isDone) await switchSearches(deps, run, at, numbered);
    isNew = turns.takeNews(userId);
    if (isDone && !isNew) return completed(at.done);
  }
};

/** Returns the embedder with its number, and records that it is in force. */
const numberedOf = async (
  { embedders, vectors }: EmbedDeps,
  embedder: Embedder,
): Promise<NumberedEmbedder & { isSwitched: boolean }> => {
  const { key, name, isEnglish } = embedder;
  const id = await embedders.idOf(embedder);
  const isSwitched = (await vectors.key()) !== key;
  if (isSwitched) await vectors.begin(id, key);
  return { id, key, name, isEnglish, isSwitched };
};

/** Finds out what there is to be done, after texts have come. */
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

/** Commits steps with the progress. */
const commit = (run: EmbedRun, at: EmbedCheckpoint, steps: TransactionStep[]): Promise<void> => {
  const progress = { done: at.done, total: Math.max(at.total, at.done), unit: UNIT, note: null };
  return run.commit(steps, { checkpoint: at, progress });
};

/** A batch of chunks for an embedder. */
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
  const taken = distinct.filter((chunk) => isTaken(embedder, chunk));
  const made = await embedPatiently(deps, run, { at, embedder, texts: taken.map(textToEmbed) });
  if (!made) return;
  const byHash = new Map(taken.map(({ hash }, n) => [hash, made[n] ?? null]));
  const steps = distinct.map(({ hash }) =>
    embedSteps.insert(run.userId, numbered.id, { hash, vector: byHash.get(hash) ?? null }),
  );
  if (steps.length === 0) return;
  at.done += batch.length;
  await commit(run, at, steps);
};

/** The language of a short text cannot be told; then its letters decide. */
const isTaken = ({ isEnglish }: Embedder, { language, text }: ChunkToEmbed): boolean =>
  !isEnglish || language !== null || isLatin(text);

interface TextBatch extends Pick<EmbedBatch, 'at' | 'embedder'> {
  texts: string[];
}

/**
 * Has vectors made, and waits while the embedder fails or a limit forbids it. Resolves to null if
 * another embedder is in force meanwhile; a text that is refused has no vector.
 */
const embedPatiently = async (
  deps: EmbedDeps,
  run: EmbedRun,
  { at, embedder, texts }: TextBatch,
): Promise<(Uint8Array | null)[] | null> => {
  const { embedders } = deps;
  const { userId, id, signal } = run;
  const call: EmbedCall = { use: 'document', userId, askedBy: id, signal };
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    if (texts.length === 0) return [];
    try {
      return (await embedders.embed(embedder, texts, call)).map(byteVector);
    } catch (error) {
      const isOfText = error instanceof EmbedderFailed && error.isOfText;
      if (isOfText && !(await refusesAll(deps, embedder, call))) {
        return embedSingly(deps, run, { at, embedder, texts });
      }
      if (!(error instanceof EmbedderFailed || error instanceof DayLimitReached)) throw error;
      const note = `Waits: ${error.message}`.slice(0, 200);
      run.progress({ done: at.done, total: at.total, unit: UNIT, note });
      await embedders.change(waitMs, signal);
      if (embedders.inForce()?.key !== embedder.key) return null;
    }
  }
};

/** Finds out which of the texts is refused. */
const embedSingly = async (
  deps: EmbedDeps,
  run: EmbedRun,
  { at, embedder, texts }: TextBatch,
): Promise<(Uint8Array | null)[] | null> => {
  if (texts.length === 1) return [null];
  const vectors: (Uint8Array | null)[] = [];
  for (const text of texts) {
    const one = await embedPatiently(deps, run, { at, embedder, texts: [text] });
    if (!one) return null;
    vectors.push(...one);
  }
  return vectors;
};

/** Returns true for an embedder that refuses a plain word as well: then the texts are not the cause. */
const refusesAll = async (
  { embedders }: EmbedDeps,
  embedder: Embedder,
  call: EmbedCall,
): Promise<boolean> => {
  try {
    await embedders.embed(embedder, ['ok'], call);
    return false;
  } catch (error) {
    if (!(error instanceof EmbedderFailed || error instanceof DayLimitReached)) throw error;
    return true;
  }
};

/**
 * Takes the entries of which each chunk has its vector, once the index finds them by it. Returns true
 * if there were any.
 */
const takeEntries = async (
  deps: EmbedDeps,
  run: EmbedRun,
  at: EmbedCheckpoint,
  numbered: NumberedEmbedder,
): Promise<boolean> => {
  const { vectors, index } = deps;
  const { userId } = run;
  const ids = await vectors.complete(userId, numbered);
  if (ids.length === 0) return false;
  await commit(
    run,
    at,
    ids.map((id) => embedSteps.change(id, 'vectors')),
  );
  await index.settled();
  for (const id of ids) await proveFound(deps, run, id, numbered);
  const current = await vectors.current(userId);
  const isCurrent = current === undefined || current === numbered.id;
  await commit(
    run,
    at,
    ids.map((id) => embedSteps.take(userId, id, { ...numbered, isCurrent })),
  );
  return true;
};

/** Searches for an entry by a vector of its own. */
const proveFound = async (
  { vectors, index }: EmbedDeps,
  { userId, signal }: EmbedRun,
  entryId: string,
  { id }: NumberedEmbedder,
): Promise<void> => {
  signal.throwIfAborted();
  const vector = await vectors.vectorOf(userId, entryId, id);
  if (!vector) return;
  const isFound = await index.nearest({ userId, embedder: id, vector, entryId });
  // It may have been deleted, or its text replaced, meanwhile.
  if (isFound || !(await vectors.vectorOf(userId, entryId, id))) return;
  throw new Error(`The search index does not find ${entryId} by its vectors`);
};

/** Has the searches of the user use the new vectors, once all are there. */
const switchSearches = async (
  deps: EmbedDeps,
  run: EmbedRun,
  at: EmbedCheckpoint,
  numbered: NumberedEmbedder,
): Promise<void> => {
  const { vectors, index } = deps;
  const { userId } = run;
  if ((await vectors.current(userId)) === numbered.id) return;
  const steps = [...embedSteps.switchTo(userId, numbered), embedSteps.change(userId, 'owner')];
  await commit(run, at, steps);
  index.changed();
};
