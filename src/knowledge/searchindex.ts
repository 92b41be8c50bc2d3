import type { Cancel, Clock } from '../kernel/clock.js';
import type { Log } from '../kernel/log.js';
import { openPoolProcess } from '../kernel/poolprocess.js';
import type { Store } from '../store/store.js';
import type { EntryText, SplitSummary } from './procedures/batches.js';
import type { FindRequest, Found } from './procedures/find.js';
import type { knowledgeTasks, NearestEntry } from './procedures/tasks.js';

interface SearchIndexDeps {
  store: Store;
  clock: Clock;
  log: Log;
  home: string;
}

export interface SplitText extends SplitSummary {
  /** Returns a batch of chunks as a JSON array. Call it once per batch, in order. */
  batch(at: number): Promise<string>;
}

export interface SearchIndex {
  /** Makes the index read committed changes. */
  changed(): void;
  /** Resolves when the index contains everything that was committed before the call. */
  settled(): Promise<void>;
  find(request: Omit<FindRequest, 'home'>): Promise<Found>;
  nearest(of: Omit<NearestEntry, 'home'>): Promise<boolean>;
  split(userId: string, text: EntryText): Promise<SplitText>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const IDLE_MS = 60_000;
const MERGE_AFTER_MS = 5000;
/** Key of the daemon in the queue of the writer thread. */
const SYNC = 'sync';

/** Its process starts on demand and stops when it is idle. */
export const openSearchIndex = ({ store, clock, log, home }: SearchIndexDeps): SearchIndex => {
  const script = new URL('./procedures/main.js', import.meta.url);
  const pools = openPoolProcess({ script, idleMs: IDLE_MS });
  const writer = pools.pool<typeof knowledgeTasks>('writer');
  const splitter = pools.pool<typeof knowledgeTasks>('splitter');
  const readers = pools.pool<typeof knowledgeTasks>('readers');
  let running: Promise<void> | null = null;
  let isBehind = false;
  let isStarted = false;
  let isClosed = false;
  let splits = 0;

  const failed = (what: string) => (error: unknown) => {
    if (!isClosed) log.error({ error: String(error) }, `the search index was not ${what}`);
  };

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

  let cancelMerge: Cancel = () => undefined;
  const merge = async (): Promise<void> => {
    while (!running && !isClosed && (await writer.run(SYNC, 'merge', { home })));
  };

  const begin = (): Promise<void> => {
    cancelMerge();
    isStarted = true;
    running ??= takeOver().finally(() => {
      running = null;
      if (isClosed) return;
      const due = () => void merge().catch(failed('merged'));
      cancelMerge = clock.after(MERGE_AFTER_MS, due, { ref: false });
    });
    return running;
  };

  const changed = (): void => {
    isBehind = true;
    begin().catch(failed('written'));
  };

  const split = async (userId: string, text: EntryText): Promise<SplitText> => {
    const id = `${++splits}`;
    const summary = await splitter.run(userId, 'splitIntoBatches', { id, text });
    const batch = async (at: number): Promise<string> => {
      const stored = await splitter.run(userId, 'takeBatch', { id, at });
      if (stored !== null) return stored;
      // Its thread has stopped in the meantime, or other texts took its place.
      await splitter.run(userId, 'splitIntoBatches', { id, text });
      return batch(at);
    };
    return { ...summary, batch };
  };

  return {
    changed,
    settled: async () => {
      isBehind = true;
      while (isBehind && !isClosed) await begin();
    },
    find: async (request) => {
      const { isLost, ...found } = await readers.run(request.userId, 'find', { home, ...request });
      // An earlier start may have left words to merge.
      if (isLost || !isStarted) changed();
      return found;
    },
    nearest: (of) => readers.run(of.userId, 'nearest', { home, ...of }),
    split,
    start: async () => {
      const newest = store.db.selectFrom('knowledge_changes').select('seq').orderBy('seq', 'desc');
      if (await newest.limit(1).executeTakeFirst()) changed();
    },
    close: async () => {
      isClosed = true;
      cancelMerge();
      await running?.catch(() => undefined);
      await pools.close();
    },
  };
};
