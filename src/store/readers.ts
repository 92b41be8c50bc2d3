import type { Engine } from './engine/engine.js';
import type { StoreWork } from './engine/protocol.js';

/** Ours: a thread that has worked at its calls for so long keeps no other call waiting. */
const BUSY_MS = 20;
/** Ours: the most reader threads at once. */
const MOST = 2;
/** Ours: a reader ends after it was not needed for so long. Each takes 7 MB. */
const IDLE_MS = 60_000;
const CHECK_MS = 1000;
/**
 * Ours: the calls between two checks beyond which the writer leaves the checkpoints of the log to a
 * reader.
 */
const MANY_CALLS = 256;

interface OpenReader {
  engine: Engine;
  /** The number of calls that it had performed at the last check. */
  performed: number;
  /** The time when it was last needed, as performance.now(). */
  neededAt: number;
}

/**
 * The readers of a store. Without any, the writer thread reads: so it is in a daemon that nobody
 * asks for anything. The first starts for a request of the API or for a busy writer, and the second
 * when the first is busy, so that a slow read delays none that comes after it.
 */
export const createReaders = (writer: Engine, start: () => Promise<Engine>) => {
  let open: OpenReader[] = [];
  let starting: Promise<void> | null = null;
  let isClosed = false;
  let written = writer.performed;

  const openAnother = (): Promise<void> => {
    starting ??= start()
      .then((engine) => {
        open.push({ engine, performed: 0, neededAt: performance.now() });
      })
      .finally(() => {
        starting = null;
      });
    return starting;
  };

  const openUnseen = (): void => void openAnother().catch(() => undefined);

  /** Resolves when there are at least so many readers, or none can be started. */
  const openAtLeast = async (count: number): Promise<void> => {
    while (!isClosed && open.length < count) {
      const before = open.length;
      await openAnother().catch(() => undefined);
      if (open.length === before) return;
    }
  };

  /** Sees to the checkpoints of the log. Returns true if the writer needs a reader for them. */
  const checkLog = (): boolean => {
    const calls = writer.performed - written;
    written = writer.performed;
    if (open.length === 0 && calls > MANY_CALLS) openUnseen();
    else if (open.length === 0 && calls > 0) writer.checkpoint();
    return calls > MANY_CALLS;
  };

  const idleReaders = (): OpenReader[] => {
    const now = performance.now();
    const isWriting = checkLog();
    for (const [at, reader] of open.entries()) {
      const { performed, pending } = reader.engine;
      const isNeeded = performed > reader.performed || pending > 0 || (at === 0 && isWriting);
      reader.performed = performed;
      if (isNeeded) reader.neededAt = now;
    }
    return open.filter(({ neededAt }) => now - neededAt > IDLE_MS);
  };

  const closeIdle = (): void => {
    const idle = idleReaders();
    open = open.filter((reader) => !idle.includes(reader));
    for (const { engine } of idle) engine.close().catch(() => undefined);
  };
  const checks = setInterval(closeIdle, CHECK_MS).unref();

  /** The thread that a read goes to: one that is free, else the first. */
  const choose = (): Engine => {
    const free = open.find(({ engine }) => engine.busyMs() < BUSY_MS)?.engine;
    if (free) return free;
    const first = open[0]?.engine ?? writer;
    if (!isClosed && open.length < MOST && first.busyMs() >= BUSY_MS) openUnseen();
    return first;
  };

  return {
    perform: (work: StoreWork): Promise<unknown> => choose().perform(work),
    /**
     * Performs a read that is known to be slow, in the second reader, where it delays no list. It
     * goes elsewhere if that cannot be started.
     */
    performSlow: async (work: StoreWork): Promise<unknown> => {
      await openAtLeast(MOST);
      return (open[1]?.engine ?? choose()).perform(work);
    },
    /** Starts the first reader if there is none. Never fails: without it the writer thread reads. */
    open: (): Promise<void> => openAtLeast(1),
    /** Ends all of them after all earlier calls are done. */
    close: async (): Promise<void> => {
      isClosed = true;
      clearInterval(checks);
      await starting?.catch(() => undefined);
      await Promise.all(open.splice(0).map(({ engine }) => engine.close()));
    },
  };
};

export type Readers = ReturnType<typeof createReaders>;
