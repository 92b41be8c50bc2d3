import { setTimeout as pause } from 'node:timers/promises';
import { type Contender, SECRET, startAdjutant, startDurable, startFloor } from './contenders.js';
import { type Generator, type Measured, median, startGenerator } from './load.js';
import { threadsOf, usedSince } from './threads.js';

export interface Figures {
  name: string;
  perSecond: number;
  p50: number;
  p99: number;
  /** Of the durable server's rate in the same round. */
  ratio: number;
  /** The same of the rate at which deliveries ran to their end; 0 where nothing runs. */
  endRatio: number;
  /** Of each round, per second: to the end, if something runs. */
  rates: number[];
  /**
   * Processor time for one delivery, microseconds: the machine's load is not in it. Of the event loop,
   * of the thread that works most beside it, and of the rest of the process.
   */
  loopUs: number;
  busiestUs: number;
  restUs: number;
}

export interface Plan {
  connections: number;
  /** Of the generator; see `Load`. */
  through?: 'wire' | 'client';
  /** Deliveries of one measurement. */
  count: number;
  rounds: number;
  /** Starts the daemon of another build, which is measured in the same rounds. */
  base?: { entry: string[]; label: string };
}

/** The rounds, and deliveries, until the compiler has settled. */
const WARMING = 2;
const WARMING_DELIVERIES = 6000;
/** Below what may wait for one hook, since held runs stay. */
const MAX_HELD = 90_000;
const QUIET_WITHIN_MS = 20_000;
const LOOK_MS = 700;
/** Idle servers of such a number take a part of this. */
const QUIET_US = 25_000;

/** All contenders side by side, one after the other in every round; the first rounds only warm. */
export const measureReceivers = async (plan: Plan, home?: string): Promise<Figures[]> => {
  const contenders = [
    await startFloor(),
    await startDurable(),
    await startAdjutant('held', home === undefined ? {} : { home }),
    ...(home === undefined ? [await startAdjutant('notify'), await startAdjutant('judged')] : []),
  ];
  if (plan.base) {
    for (const runs of ['held', 'notify', 'judged'] as const)
      contenders.push(await startAdjutant(runs, plan.base));
  }
  const generator = startGenerator();
  const warming = Math.max(WARMING, Math.ceil(WARMING_DELIVERIES / plan.count));
  const rounds = warming + plan.rounds;
  const count = Math.min(plan.count, Math.floor(MAX_HELD / rounds));
  const taken = new Map<string, Figures[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // In both directions, so that none always comes after the same one.
    if (round > 0) contenders.push(...contenders.splice(2).reverse());
    const figures = await measureRound(contenders, generator, { ...plan, count }, round);
    if (round >= warming) for (const each of figures) taken.get(each.name)?.push(each);
  }
  generator.close();
  await Promise.all(contenders.map(({ stop }) => stop()));
  return [...taken].map(([name, figures]) => middle(name, figures));
};

const measureRound = async (
  contenders: Contender[],
  generator: Generator,
  { connections, count, through }: Plan,
  round: number,
): Promise<Figures[]> => {
  const figures: Figures[] = [];
  for (const { name, daemon, path, hasRun } of contenders) {
    await quiet(contenders);
    const load = { kind: 'deliveries' as const, url: daemon.url, path, secret: SECRET };
    const before = await threadsOf(daemon.pid);
    const seed = `c${connections}-r${round}`;
    const since = performance.now();
    const measured = await generator.run({ ...load, seed, count, connections, through });
    refuseOther(name, measured, count);
    await hasRun?.();
    const endedPerSecond = hasRun ? (1000 * count) / (performance.now() - since) : 0;
    const { perSecond, p50, p99 } = measured;
    const [loopUs = 0, busiestUs = 0, ...others] = usedSince(
      before,
      await threadsOf(daemon.pid),
    ).map((us) => us / count);
    const restUs = others.reduce((sum, us) => sum + us, 0);
    // The first is without a disk, the second durable.
    const durable = figures[1]?.perSecond ?? perSecond;
    const [ratio, endRatio] = [perSecond / durable, endedPerSecond / durable];
    const rates = [endedPerSecond || perSecond];
    figures.push({ name, perSecond, p50, p99, ratio, endRatio, rates, loopUs, busiestUs, restUs });
  }
  return figures;
};

/** What one contender still does (runs, checkpoints) must not be charged to the next. */
const quiet = async (contenders: Contender[]): Promise<void> => {
  const all = async (): Promise<number> => {
    const used = await Promise.all(contenders.map(({ daemon }) => threadsOf(daemon.pid)));
    return used.flatMap((threads) => [...threads.values()]).reduce((sum, us) => sum + us, 0);
  };
  const end = performance.now() + QUIET_WITHIN_MS;
  for (let before = await all(); performance.now() < end; ) {
    await pause(LOOK_MS);
    const now = await all();
    if (now - before <= QUIET_US) return;
    before = now;
  }
};

/** A figure with refusals in it would be the figure of something else. */
const refuseOther = (name: string, { statuses }: Measured, count: number): void => {
  if (statuses[202] === count) return;
  throw new Error(`${name} answered ${JSON.stringify(statuses)} instead of ${count} times 202`);
};

const middle = (name: string, figures: Figures[]): Figures => {
  const of = (key: Exclude<keyof Figures, 'name' | 'rates'>): number =>
    median(figures.map((each) => each[key]));
  return {
    name,
    perSecond: of('perSecond'),
    p50: of('p50'),
    p99: of('p99'),
    ratio: of('ratio'),
    endRatio: of('endRatio'),
    rates: figures.flatMap((each) => each.rates),
    loopUs: of('loopUs'),
    busiestUs: of('busiestUs'),
    restUs: of('restUs'),
  };
};
