import { systemClock } from '../kernel/clock.js';
import type { Engine } from './engine/engine.js';
import type { StoreWork } from './engine/protocol.js';

/** A thread busy for longer than this gets no further call. */
const BUSY_MS = 20;
const MAX_READERS = 2;
/** Idle time after which a reader ends. Each takes 7 MB. */
const IDLE_MS = 60_000;
const CHECK_MS = 1000;
/** Calls between two checks above which the writer leaves checkpoints to a reader. */
const MANY_CALLS = 256;

interface OpenReader {
  engine: Engine;
  performed: number;
  neededAt: number;
}

/**
 * Without readers the writer thread reads, as in an idle daemon. The first reader starts for an API
 * request or a busy writer, the second when the first is busy.
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

  const openAtLeast = async (count: number): Promise<void> => {
    while (!isClosed && open.length < count) {
      const before = open.length;
      await openAnother().catch(() => undefined);
      if (open.length === before) return;
    }
  };

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
  const endChecks = systemClock.every(CHECK_MS, closeIdle, { ref: false });

  const choose = (): Engine => {
    const free = open.find(({ engine }) => engine.busyMs() < BUSY_MS)?.engine;
    if (free) return free;
    const first = open[0]?.engine ?? writer;
    if (!isClosed && open.length < MAX_READERS && first.busyMs() >= BUSY_MS) openUnseen();
    return first;
  };

  return {
    perform: (work: StoreWork): Promise<unknown> => choose().perform(work),
    /** Uses the second reader if possible, so that lists are not delayed. */
    performSlow: async (work: StoreWork): Promise<unknown> => {
      await openAtLeast(MAX_READERS);
      return (open[1]?.engine ?? choose()).perform(work);
    },
    /** Never fails: without a reader the writer thread reads. */
    open: (): Promise<void> => openAtLeast(1),
    close: async (): Promise<void> => {
      isClosed = true;
      endChecks();
      await starting?.catch(() => undefined);
      await Promise.all(open.splice(0).map(({ engine }) => engine.close()));
    },
  };
};

export type Readers = ReturnType<typeof createReaders>;
