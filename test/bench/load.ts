import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What is to be asked of a server, over how many connections. */
export interface Load {
  kind: 'deliveries' | 'gets';
  url: string;
  path: string;
  secret: string;
  seed: string;
  count: number;
  connections: number;
  /** `wire`: hardly any work for the generator. `client`: an ordinary HTTP client; the default. */
  through?: 'wire' | 'client';
  /** Between an answer and the next request of a connection. */
  pauseMs?: number;
  /** Has the time of each request returned. */
  keepsTimes?: boolean;
}

export interface Measured {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  statuses: Record<number, number>;
  /** The times of all requests, if they are kept, in milliseconds. */
  tookMs?: number[];
}

export interface Generator {
  run(load: Load): Promise<Measured>;
  close(): void;
}

interface Report {
  id: number;
  measured?: Measured;
  failure?: string;
}

/** Starts a generator process; it may run several loads at once. */
export const startGenerator = (): Generator => {
  const child = fork(fileURLToPath(new URL('./generator.js', import.meta.url)));
  const waiting = new Map<number, { resolve(m: Measured): void; reject(error: Error): void }>();
  let lastId = 0;
  child.on('message', ({ id, measured, failure }: Report) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (measured) waiter?.resolve(measured);
    else waiter?.reject(new Error(failure));
  });
  return {
    run: (load) =>
      new Promise((resolve, reject) => {
        const id = ++lastId;
        waiting.set(id, { resolve, reject });
        child.send({ id, load });
      }),
    close: () => child.disconnect(),
  };
};

/** Of figures sorted upwards. */
export const quantile = (sorted: number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

export const median = (figures: number[]): number =>
  quantile(
    [...figures].sort((a, b) => a - b),
    0.5,
  );
