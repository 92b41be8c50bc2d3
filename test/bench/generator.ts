import { openClient } from './client.js';
import { type Load, type Measured, quantile } from './load.js';
import { type Ask, bytesOf, getRequest, signedRequests } from './requests.js';
import { openWire } from './wire.js';

/** A connection that has one request under way at a time. */
interface Way<R> {
  ask(request: R): Promise<number>;
  close(): void;
}

/** The load generator, in a process of its own: an order comes in, its figures go out. */
const run = async (load: Load): Promise<Measured> => {
  const asks =
    load.kind === 'deliveries'
      ? signedRequests(load)
      : Array.from({ length: load.count }, () => getRequest(load.path));
  const each = Array.from({ length: load.connections });
  if (load.through === 'wire') {
    const wires = await Promise.all(each.map(() => openWire(load.url)));
    return drive(wires, asks.map(bytesOf), load);
  }
  const clients: Way<Ask>[] = each.map(() => openClient(load.url));
  return drive(clients, asks, load);
};

/** Every connection asks the next request as soon as it has its answer, or after a pause. */
const drive = async <R>(
  ways: Way<R>[],
  requests: R[],
  { pauseMs = 0, keepsTimes = false }: Load,
): Promise<Measured> => {
  const tookMs: number[] = [];
  const statuses: Record<number, number> = {};
  let next = 0;
  const since = performance.now();
  const work = async (way: Way<R>): Promise<void> => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      const asked = performance.now();
      const status = await way.ask(request);
      tookMs.push(performance.now() - asked);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  await Promise.all(ways.map(work));
  const seconds = (performance.now() - since) / 1000;
  for (const way of ways) way.close();
  tookMs.sort((a, b) => a - b);
  return {
    perSecond: requests.length / seconds,
    p50: quantile(tookMs, 0.5),
    p99: quantile(tookMs, 0.99),
    statuses,
    ...(keepsTimes && { tookMs }),
  };
};

process.on('message', ({ id, load }: { id: number; load: Load }) => {
  run(load).then(
    (measured) => process.send?.({ id, measured }),
    (error) => process.send?.({ id, failure: String(error) }),
  );
});
