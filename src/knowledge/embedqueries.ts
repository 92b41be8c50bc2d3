import { sql } from 'kysely';
import { readFact, writeFact } from '../store/facts.js';
import { type Store, statement } from '../store/store.js';
import type { KnowledgeChunkRow, KnowledgeEntryRow } from '../store/tables/knowledge.js';
import { visibleTo } from '../store/visible.js';
import { hashOfChunk } from './procedures/hash.js';

export interface NumberedEmbedder {
  id: number;
  key: string;
  name: string;
  isEnglish: boolean;
}

export interface ChunkToEmbed extends Pick<KnowledgeChunkRow, 'number' | 'heading' | 'text'> {
  entryId: string;
  hash: string;
  language: KnowledgeEntryRow['language'];
}

export interface KnowledgeAmount {
  users: number;
  chunks: number;
  /** UTF-16 code units. */
  chars: number;
}

export interface EmbedCounts {
  embedded: number;
  waiting: number;
}

export const EMBEDDER_FACT = 'embedder';
const HASHES_AT_ONCE = 200;
const ENTRIES_AT_ONCE = 200;

/** A chunk `c` of an entry `e` without a vector of this embedder. */
const lacks = (id: number) =>
  sql<boolean>`NOT EXISTS (SELECT 1 FROM knowledge_vectors AS v
    WHERE v.user_id = c.user_id AND v.hash = c.hash AND v.embedder = ${id})`;

const waitingEntries = ({ db }: Store, userId: string) =>
  db
    .selectFrom('knowledge_entries as e')
    .where(visibleTo(userId, 'e'))
    .where('e.embedder', 'is', null)
    .where(sql<boolean>`e.chunks > 0`);

const isEntryForEnglish = sql<boolean>`(e.language IS NULL OR e.language = 'en')`;

const waitingFor = (
  store: Store,
  userId: string,
  { isEnglish }: Pick<NumberedEmbedder, 'isEnglish'>,
) => {
  const waiting = waitingEntries(store, userId);
  return isEnglish ? waiting.where(isEntryForEnglish) : waiting;
};

export const isWaiting = async (
  store: Store,
  userId: string,
  of: Pick<NumberedEmbedder, 'isEnglish'>,
): Promise<boolean> => {
  const row = waitingFor(store, userId, of).select('e.id').limit(1);
  return (await row.executeTakeFirst()) !== undefined;
};

const countWaitingChunks = async (store: Store, userId: string): Promise<number> => {
  const left = waitingEntries(store, userId).select(({ fn, lit }) =>
    fn.coalesce(fn.sum<number>('e.chunks'), lit(0)).as('chunks'),
  );
  return (await left.executeTakeFirst())?.chunks ?? 0;
};

const hasOthers = async ({ db }: Store, userId: string, id: number): Promise<boolean> => {
  const row = db
    .selectFrom('knowledge_vectors')
    .select('hash')
    .where(visibleTo(userId))
    .where('embedder', '<>', id)
    .limit(1);
  return (await row.executeTakeFirst()) !== undefined;
};

/**
 * Returns waiting entries whose chunks all have vectors, a few at a time and without the named
 * ones.
 */
const completeEntries = async (
  store: Store,
  userId: string,
  { embedder, without }: { embedder: NumberedEmbedder; without: ReadonlySet<string> },
): Promise<string[]> => {
  const rows = waitingFor(store, userId, embedder)
    .select('e.id')
    .where(
      sql<boolean>`NOT EXISTS (SELECT 1 FROM knowledge_chunks AS c
        WHERE c.user_id = e.user_id AND c.entry_id = e.id AND ${lacks(embedder.id)})`,
    )
    .where(sql<boolean>`e.id NOT IN (SELECT value FROM json_each(${JSON.stringify([...without])}))`)
    .orderBy('e.id')
    .limit(ENTRIES_AT_ONCE);
  return (await rows.execute()).map((row) => row.id);
};

export const embedStore = (store: Store) => {
  const { db } = store;

  return {
    key: () => readFact(store, EMBEDDER_FACT),

    /** Records the active embedder and makes all entries of others wait. */
    begin: (id: number, key: string): Promise<unknown> =>
      store.transact([
        statement(writeFact(store, EMBEDDER_FACT, key)),
        {
          sql: 'UPDATE knowledge_entries SET embedder = NULL WHERE embedder <> ?',
          parameters: [id],
        },
      ]),

    waitingUsers: async (): Promise<string[]> => {
      const rows = db
        .selectFrom('knowledge_entries')
        .select('user_id')
        .distinct()
        .where('embedder', 'is', null)
        .where(hasChunks);
      return (await rows.execute()).map(({ user_id }) => user_id);
    },

    /** `undefined` means the active embedder. */
    current: async (userId: string): Promise<number | undefined> => {
      const row = db.selectFrom('user_embedders').select('embedder').where(visibleTo(userId));
      return (await row.executeTakeFirst())?.embedder;
    },

    waitingChunks: (userId: string): Promise<number> => countWaitingChunks(store, userId),

    counts: async (
      userId: string,
      { id, isEnglish }: Pick<NumberedEmbedder, 'id' | 'isEnglish'>,
    ): Promise<EmbedCounts> => {
      let taken = db
        .selectFrom('knowledge_entries')
        .select(({ fn, lit }) => fn.coalesce(fn.sum<number>('chunks'), lit(0)).as('chunks'))
        .where(visibleTo(userId))
        .where('embedder', '=', id);
      if (isEnglish) taken = taken.where(isForEnglish);
      const [embedded, left] = await Promise.all([
        taken.executeTakeFirst(),
        countWaitingChunks(store, userId),
      ]);
      return { embedded: embedded?.chunks ?? 0, waiting: left };
    },

    amount: async (): Promise<KnowledgeAmount> => {
      const row = db
        .selectFrom('knowledge_entries')
        .select(({ fn, lit }) => [
          fn.count<number>('user_id').distinct().as('users'),
          fn.coalesce(fn.sum<number>('chunks'), lit(0)).as('chunks'),
          fn.coalesce(fn.sum<number>('chars'), lit(0)).as('chars'),
        ]);
      return row.executeTakeFirstOrThrow();
    },

    lacking: async (userId: string, embedder: NumberedEmbedder): Promise<number> => {
      const row = waitingFor(store, userId, embedder)
        .innerJoin('knowledge_chunks as c', (join) =>
          join.onRef('c.user_id', '=', 'e.user_id').onRef('c.entry_id', '=', 'e.id'),
        )
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where(lacks(embedder.id));
      return (await row.executeTakeFirst())?.count ?? 0;
    },

    /** Returns true if there may be more chunks without a hash. */
    addHashes: async (userId: string): Promise<boolean> => {
      const rows = await db
        .selectFrom('knowledge_chunks')
        .select(['entry_id', 'number', 'heading', 'text'])
        .where(visibleTo(userId))
        .where('hash', 'is', null)
        .limit(HASHES_AT_ONCE)
        .execute();
      if (rows.length === 0) return false;
      await store.transact(
        rows.map((row) => ({
          sql: `UPDATE knowledge_chunks SET hash = ? WHERE user_id = ? AND entry_id = ? AND number = ?`,
          parameters: [hashOfChunk(row), userId, row.entry_id, row.number],
        })),
      );
      return true;
    },

    chunks: (userId: string, embedder: NumberedEmbedder, limit: number): Promise<ChunkToEmbed[]> =>
      waitingFor(store, userId, embedder)
        .innerJoin('knowledge_chunks as c', (join) =>
          join.onRef('c.user_id', '=', 'e.user_id').onRef('c.entry_id', '=', 'e.id'),
        )
        .select(['e.id as entryId', 'e.language', 'c.number', 'c.heading', 'c.text'])
        .select(sql<string>`c.hash`.as('hash'))
        .where(lacks(embedder.id))
        .orderBy('e.id')
        .orderBy('c.number')
        .limit(limit)
        .execute(),

    hasOthers: (userId: string, id: number): Promise<boolean> => hasOthers(store, userId, id),
    complete: (userId: string, embedder: NumberedEmbedder, without: ReadonlySet<string>) =>
      completeEntries(store, userId, { embedder, without }),

    vectorOf: async (userId: string, entryId: string, id: number) => {
      const row = await db
        .selectFrom('knowledge_chunks as c')
        .innerJoin('knowledge_vectors as v', (join) =>
          join.onRef('v.user_id', '=', 'c.user_id').onRef('v.hash', '=', 'c.hash'),
        )
        .select('v.vector')
        .where(visibleTo(userId, 'c'))
        .where('c.entry_id', '=', entryId)
        .where('v.embedder', '=', id)
        .where('v.vector', 'is not', null)
        .limit(1)
        .executeTakeFirst();
      return row?.vector ?? undefined;
    },
  };
};

export type EmbedStore = ReturnType<typeof embedStore>;

/** The index of waiting entries contains exactly this condition. */
const hasChunks = sql<boolean>`chunks > 0`;
const isForEnglish = sql<boolean>`(language IS NULL OR language = 'en')`;
