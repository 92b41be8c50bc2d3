import { type Engine, type EngineEvents, startThread } from './engine/engine.js';
import type { StoreWork } from './engine/protocol.js';
import type { StoreOptions } from './threads.js';

/** Performs reads: one engine, or several. */
export interface DatabaseReader {
  perform(work: StoreWork): Promise<unknown>;
}

/** Ours: a reader that has worked at its calls for so long keeps no other call waiting. */
const BUSY_MS = 20;
/** The time after which a second reader that has nothing to do ends, for its memory. */
const IDLE_MS = 60_000;

/**
 * The readers of a store: one, and a second one while the first has been busy for a while. So a slow
 * read delays none that comes after it, and most of the time one thread is enough.
 */
export const createReaders = (first: Engine, options: StoreOptions, events: EngineEvents) => {
  let second: Promise<Engine> | null = null;
  let opened: Engine | null = null;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  const openSecond = (): Promise<Engine> => {
    second ??= startThread({ ...options, role: 'reader' })
      .open(events)
      .then((engine) => {
        opened = engine;
        return engine;
      })
      .catch((error: unknown) => {
        second = null;
        throw error;
      });
    return second;
  };

  const closeSecond = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = second;
    second = null;
    opened = null;
    await (await ending?.catch(() => null))?.close();
  };

  const endWhenIdle = (): void => {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (opened?.pending === 0) closeSecond().catch(() => undefined);
      else endWhenIdle();
    }, IDLE_MS);
    idle.unref();
  };

  const bySecond = async (work: StoreWork): Promise<unknown> => {
    const engine = opened ?? (await openSecond());
    endWhenIdle();
    return engine.perform(work);
  };

  return {
    perform: (work: StoreWork): Promise<unknown> => {
      if (isClosed || first.busyMs() < BUSY_MS) return first.perform(work);
      if (opened && opened.busyMs() < BUSY_MS) return bySecond(work);
      if (second === null) openSecond().then(endWhenIdle, () => undefined);
      return first.perform(work);
    },
    /** Performs a read in the thread that was there from the start. */
    performFirst: (work: StoreWork): Promise<unknown> => first.perform(work),
    /**
     * Performs a read that is known to be slow, in a thread where it delays no list. If none can be
     * started, it goes to the first.
     */
    performSlow: (work: StoreWork): Promise<unknown> =>
      isClosed ? first.perform(work) : bySecond(work).catch(() => first.perform(work)),
    close: async (): Promise<void> => {
      isClosed = true;
      await closeSecond();
      await first.close();
    },
  };
};

export type Readers = ReturnType<typeof createReaders>;
