import type { Clock } from '../../kernel/clock.js';
import { mint } from '../../kernel/ids.js';
import type { Store } from '../../store/store.js';
import type { BuiltinEmbedder } from './builtin.js';
import {
  byteVector,
  DayLimitReached,
  type EmbedCall,
  type Embedder,
  EmbedderFailed,
} from './embedder.js';
import { createFaultFinder, embedderTimeoutMessage, PROBE_TEXT } from './fault.js';
import { createHealthRecord } from './health.js';

export interface EmbedderSource {
  /**
   * Returns the model that is routed to embeddings, the reason why it cannot be used, or null if
   * none is routed.
   */
  routed(): Embedder | { reason: string } | null;
  withKey(key: string): Embedder | null;
}

/** `isBusy`: the embedder is loading or busy, which is not a failure. */
export type QueryVector = { vector: Uint8Array } | { reason: string; isBusy?: true };

export interface EmbedderReport {
  isWell: boolean;
  detail: string;
}

export interface Embedders {
  inForce(): Embedder | null;
  whyNone(): string;
  withId(id: number): Promise<Embedder | null>;
  /** The ID is assigned on first use. */
  idOf(embedder: Embedder): Promise<number>;
  embed(embedder: Embedder, texts: string[], call: EmbedCall): Promise<ArrayLike<number>[]>;
  queryVector(embedder: Embedder, userId: string, query: string): Promise<QueryVector>;
  /** Resolves within 2 s to the reason why the active embedder does not work, or to null. */
  check(userId: string): Promise<string | null>;
  /** Resolves within 2 s. */
  report(userId: string): Promise<EmbedderReport>;
  use(source: EmbedderSource): void;
  /** Waits for a time, or until the active embedder may have changed. */
  change(ms: number, signal: AbortSignal): Promise<void>;
  changed(): void;
}

interface EmbeddersDeps {
  store: Store;
  clock: Clock;
  builtin: BuiltinEmbedder;
  /** Without it, no vectors are created. */
  comparesVectors: boolean;
  isBuiltinOn: boolean;
}

/** Time after a failure in which an embedder is not used for queries. */
const REST_MS = 15_000;
const MAX_KEPT = 1000;
export const VECTOR_SEARCH_UNAVAILABLE = 'Vector search is not available on this machine';

export const openEmbedders = (deps: EmbeddersDeps): Embedders => {
  const { store, clock, builtin, comparesVectors, isBuiltinOn } = deps;
  const builtinEmbedder = isBuiltinOn ? builtin.embedder : null;
  const health = createHealthRecord();
  const faults = createFaultFinder(clock, health);
  const ids = embedderIds(store);
  const queryCache = new Map<string, Uint8Array>();
  let source: EmbedderSource = { routed: () => null, withKey: () => null };
  let change = new AbortController();

  const inForce = (): Embedder | null => {
    if (!comparesVectors) return null;
    const routed = source.routed();
    if (!routed) return builtinEmbedder;
    return 'reason' in routed ? null : routed;
  };

  const embed: Embedders['embed'] = async (embedder, texts, call) => {
    try {
      const vectors = await embedder.embed(texts, call);
      health.worked(embedder.key);
      return vectors;
    } catch (error) {
      if (error instanceof EmbedderFailed) {
        error.isOfText = (await faults.of(embedder, { ...call, texts, failure: error })) === 'text';
      }
      throw error;
    }
  };

  const askVector: Embedders['queryVector'] = async (embedder, userId, query) => {
    const failure = health.failure(embedder.key, REST_MS);
    if (failure !== null) return { reason: failure };
    const signal = clock.deadline(embedder.queryMs);
    const call = { use: 'query' as const, userId, askedBy: mint('question', clock.now()), signal };
    try {
      const [values = []] = await embedder.embed([query], call);
      health.worked(embedder.key);
      const vector = byteVector(values);
      return vector ? { vector } : { reason: `${embedder.name} returned no vector for this query` };
    } catch (error) {
      if (error instanceof DayLimitReached) return { reason: error.message };
      if (signal.aborted && embedder.isQueued) {
        // Keeps the model loading for the next query, and finds out whether it works at all.
        void faults.probe(embedder, call);
        return { reason: busyMessage(embedder), isBusy: true };
      }
      const late = signal.aborted
        ? { message: embedderTimeoutMessage(embedder), mayBeOfText: true }
        : null;
      const failure = late ?? (error instanceof EmbedderFailed ? error : null);
      if (!failure) throw error;
      // The search does not wait for this check.
      void faults.of(embedder, { ...call, texts: [query], failure });
      return { reason: failure.message };
    }
  };

  const queryVector: Embedders['queryVector'] = async (embedder, userId, query) => {
    const key = JSON.stringify([userId, embedder.key, query]);
    const known = queryCache.get(key);
    const result = known ? { vector: known } : await askVector(embedder, userId, query);
    if ('reason' in result) return result;
    // The most recently used entries are last.
    queryCache.delete(key);
    queryCache.set(key, result.vector);
    for (const oldest of queryCache.keys()) {
      if (queryCache.size <= MAX_KEPT) break;
      queryCache.delete(oldest);
    }
    return result;
  };

  const isOff = (): boolean => !isBuiltinOn && !source.routed();

  const whyNone = (): string => {
    if (!comparesVectors) return VECTOR_SEARCH_UNAVAILABLE;
    const routed = source.routed();
    if (routed && 'reason' in routed) return routed.reason;
    return isBuiltinOn
      ? 'The packages of the built-in embedder are not installed'
      : 'The built-in embedder is turned off and no other embedding model is configured';
  };

  const findFault = async (
    userId: string,
  ): Promise<Extract<QueryVector, { reason: string }> | null> => {
    const embedder = inForce();
    if (!embedder) return null;
    if (!embedder.isQueued) await faults.settled(embedder);
    const reason = health.failure(embedder.key, REST_MS);
    if (reason !== null) return { reason };
    if (embedder === builtinEmbedder || health.isFresh(embedder.key)) return null;
    const checked = await askVector(embedder, userId, PROBE_TEXT);
    return 'reason' in checked ? checked : null;
  };

  return {
    inForce,
    whyNone,
    withId: async (id) => {
      const key = await ids.keyOf(id);
      if (key === null) return null;
      return [inForce(), builtinEmbedder].find((each) => each?.key === key) ?? source.withKey(key);
    },
    idOf: ids.idOf,
    embed,
    queryVector,
    check: async (userId) => (await findFault(userId))?.reason ?? null,
    report: async (userId) => {
      const embedder = inForce();
      if (!embedder) return { isWell: comparesVectors && isOff(), detail: whyNone() };
      const fault = await findFault(userId);
      const isWell = fault === null || fault.isBusy === true;
      return { isWell, detail: fault?.reason ?? embedder.name };
    },
    use: (newSource) => {
      source = newSource;
    },
    change: async (ms, signal) => {
      const either = AbortSignal.any([signal, change.signal]);
      await clock.wait(ms, either).catch(() => undefined);
      signal.throwIfAborted();
    },
    changed: () => {
      change.abort();
      change = new AbortController();
    },
  };
};

const busyMessage = ({ name, queryMs }: Embedder): string =>
  `${name} is loading or busy and did not process this query within ${queryMs / 1000} s`;

const embedderIds = ({ db }: Store) => {
  const known = new Map<string, number>();
  return {
    idOf: async ({ key, name, dimensions }: Embedder): Promise<number> => {
      const found = known.get(key);
      if (found !== undefined) return found;
      const { id } = await db
        .insertInto('embedders')
        .values({ key, name, dimensions })
        .onConflict((on) => on.column('key').doUpdateSet({ name }))
        .returning('id')
        .executeTakeFirstOrThrow();
      known.set(key, id);
      return id;
    },
    keyOf: async (id: number): Promise<string | null> => {
      for (const [key, each] of known) if (each === id) return key;
      const row = await db
        .selectFrom('embedders')
        .select('key')
        .where('id', '=', id)
        .executeTakeFirst();
      return row?.key ?? null;
    },
  };
};
