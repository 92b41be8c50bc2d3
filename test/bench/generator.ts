import { type Load, type Measured, quantile } from './load.js';
import { getRequest, signedRequests } from './requests.js';
import { openWire, type Wire } from './wire.js';

/** The load generator, in a process of its own: an order comes in, its figures go out. */
const run = async (load: Load): Promise<Measured> => {
  const requests =
    load.kind === 'deliveries'
      ? signedRequests(load)
      : Array.from({ length: load.count }, () => getRequest(load.path));
  const wires = await Promise.all(
    Array.from({ length: load.connections }, () => openWire(load.url)),
  );
  const measured = await drive(wires, requests, load.pauseMs ?? 0);
  for (const wire of wires) wire.close();
  return measured;
};

/** Every connection asks the next request as soon as it has its answer, or after a pause. */
const drive = async (wires: Wire[], requests: Buffer[], pauseMs: number): Promise<Measured> => {
  const tookMs: number[] = [];
  const statuses: Record<number, number> = {};
  let next = 0;
  const since = performance.now();
  const work = async (wire: Wire): Promise<void> => {
    for (let request = requests[next++]; request; request = requests[next++]) {
      const asked = performance.now();
      const status = await wire.ask(request);
      tookMs.push(performance.now() - asked);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  await Promise.all(wires.map(work));
  const seconds = (performance.now() - since) / 1000;
  tookMs.sort((a, b) => a - b);
  return {
    perSecond: requests.length / seconds,
    p50: quantile(tookMs, 0.5),
    p99: quantile(tookMs, 0.99),
    statuses,
  };
};

process.on('message', ({ id, load }: { id: number; load: Load }) => {
  run(load).then(
    (measured) => process.send?.({ id, measured }),
    (error) => process.send?.({ id, failure: String(error) }),
  );
});
