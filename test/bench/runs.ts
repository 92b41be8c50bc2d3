import { type Runs, SECRET, startAdjutant } from './contenders.js';
import { type Generator, startGenerator } from './load.js';
import { threadsOf, usedSince } from './threads.js';

const CONNECTIONS = 50;
/** The deliveries of a measurement; a quarter of them warm the daemon first. */
const COUNTS: Partial<Record<Runs, number>> = {
  judged: 40_000,
  tool: 10_000,
  agent: 1000,
  agents: 2000,
};

export interface RunFigures {
  /** Runs that ended, per second. */
  perSecond: number;
  /** The time until all deliveries were acknowledged, and until all had run. */
  sentMs: number;
  allMs: number;
  /** Processor time of a delivery and its run, in microseconds. */
  processorUs: number;
}

/** Measures the rate at which queued runs end, and the processor time of each with its delivery. */
export const measureRuns = async (): Promise<Record<string, RunFigures>> => {
  const generator = startGenerator();
  const measured: Record<string, RunFigures> = {};
  for (const [runs, count] of Object.entries(COUNTS)) {
    measured[runs] = await measure(runs as Runs, count, generator);
  }
  generator.close();
  return measured;
};

const measure = async (runs: Runs, count: number, generator: Generator): Promise<RunFigures> => {
  const { daemon, path, hasRun, stop } = await startAdjutant(runs);
  const load = { kind: 'deliveries' as const, url: daemon.url, path, secret: SECRET };
  const fire = (seed: string, some: number) =>
    generator.run({ ...load, seed, count: some, connections: CONNECTIONS, through: 'wire' });
  await fire('warm', count / 4);
  await hasRun?.();
  const before = await threadsOf(daemon.pid);
  const since = performance.now();
  await fire('peak', count);
  const sentMs = performance.now() - since;
  await hasRun?.();
  const allMs = performance.now() - since;
  const used = usedSince(before, await threadsOf(daemon.pid));
  await stop();
  return {
    perSecond: (1000 * count) / allMs,
    sentMs,
    allMs,
    processorUs: used.reduce((sum, us) => sum + us, 0) / count,
  };
};
