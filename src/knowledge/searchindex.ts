import type { Log } from '../kernel/log.js';
import { createPool, type Pool } from '../kernel/pool.js';
import type { Store } from '../store/store.js';
import type { FindRequest, Found } from './procedures/find.js';
import type { SplitChunks, TextToSplit } from './procedures/split.js';
import type { knowledgeTasks, NearestEntry } from './procedures/tasks.js';

interface SearchIndexDeps {
  store: Store;
  log: Log;
  home: string;
}

/** A text in its chunks, with the code of its language. */
type SplitResult = SplitChunks & { language: string | null };

/** The search index, which threads of its own write and read. */
export interface SearchIndex {
  /** Has the index take over what was committed. */
  changed(): void;
  /** Resolves when the index has all that was committed before the call. */
  settled(): Promise<void>;
  find(request: Omit<FindRequest, 'home'>): Promise<Found>;
  /** Finds out if an entry is found by a vector. */
  nearest(of: Omit<NearestEntry, 'home'>): Promise<boolean>;
  split(userId: string, text: TextToSplit): Promise<SplitResult>;
  /** Has it take over what an earlier start has left, if anything. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Ours: the longest times of a search, of a step of indexing and of a split, in milliseconds. */
const SEARCH_MS = 10_000;
const STEP_LIMIT_MS = 300_000;
const SPLIT_MS = 120_000;
const SHARED = { waiting: 1000, heapMb: 512, idleMs: 60_000 };
/** Stands for the daemon among those who ask the thread that writes. */
const SYNC = 'sync';

type KnowledgePool = Pool<typeof knowledgeTasks>;

/** Opens the search index. Its threads start when they are needed, and end when they are idle. */
export const openSearchIndex = ({ store, log, home }: SearchIndexDeps): SearchIndex => {
  const script = new URL('./procedures/thread.js', import.meta.url);
  const writer: KnowledgePool = createPool({ script, size: 1, limitMs: STEP_LIMIT_MS, ...SHARED });
  // Apart from the writer, which all users wait for.
  const splitter: KnowledgePool = createPool({ script, size: 1, limitMs: SPLIT_MS, ...SHARED });
  const readers: KnowledgePool = createPool({ script, size: 2, limitMs: SEARCH_MS, ...SHARED });
  let running: Promise<void> | null = null;
  let isBehind = false;
  let isClosed = false;

  const takeOver = async (): Promise<void> => {
    while (isBehind && !isClosed) {
      isBehind = false;
      let seq = 0;
      for (let isLeft = true; isLeft && !isClosed; ) {
        const report = await writer.run(SYNC, 'sync', { home });
        ({ isLeft, seq } = report);
      }
      await store.db.deleteFrom('knowledge_changes').where('seq', '<', seq).execute();
    }
  };

  const begin = (): Promise<void> => {
    running ??= takeOver().finally(() => {
      running = null;
    });
    return running;
  };

  const changed = (): void => {
    isBehind = true;
    begin().catch((error) => {
      if (!isClosed) log.error({ error: String(error) }, 'the search index was not written');
    });
  };

  return {
    changed,
    settled: async () => {
      isBehind = true;
      while (isBehind && !isClosed) await begin();
    },
    find: async (request) => {
      const { isLost, ...found } = await readers.run(request.userId, 'find', { home, ...request });
      if (isLost) changed();
      return found;
    },
    nearest: (of) => readers.run(of.userId, 'nearest', { home, ...of }),
    split: (userId, text) => splitter.run(userId, 'split', text),
    start: async () => {
      const newest = store.db.selectFrom('knowledge_changes').select('seq').orderBy('seq', 'desc');
      if (await newest.limit(1).executeTakeFirst()) changed();
    },
    close: async () => {
      isClosed = true;
      await running?.catch(() => undefined);
      await Promise.all([writer.close(), splitter.close(), readers.close()]);
    },
  };
};
