import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openRush, type Rush } from '../tui/rush.js';

/**
 * The desk in a terminal, beside a daemon of its own: `npm run bench:tui` for a minute of 100 events
 * a second with keys pressed, `--seconds`, `--columns`, `--rows`; `npm run test:soak` for `--minutes`
 * of the same, with the slope of its memory. It needs tmux and Linux.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    minutes: { type: 'string', default: '0' },
    columns: { type: 'string', default: '80' },
    rows: { type: 'string', default: '24' },
  },
});
const minutes = Number(values.minutes);
const seconds = minutes > 0 ? minutes * 60 : Number(values.seconds);
const PER_SECOND = 100;
const IDLE_MS = 10_000;
const SAMPLE_MS = 10_000;
/** Until then memory grows to what it needs: not counted in a slope. */
const WARM_MS = 120_000;

interface Sample {
  hours: number;
  mb: number;
}

/** Help is opened and closed for that long: every key's milliseconds, the shortest first. */
const typeFor = async (rush: Rush, ms: number, sample: () => void): Promise<number[]> => {
  const took: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    for (const text of ['Help: ', 'Needs you']) {
      took.push(await rush.press('?', text));
      sample();
      await pause(200 + Math.random() * 50);
    }
  }
  return took.sort((a, b) => a - b);
};

const shareOver = async (rush: Rush, work: () => Promise<unknown>): Promise<number> => {
  const [cpuMs, since] = [rush.cpuMs(), performance.now()];
  await work();
  return ((rush.cpuMs() - cpuMs) * 100) / (performance.now() - since);
};

/** Notes the resident memory every ten seconds. */
const sampler = (rush: Rush, samples: Sample[]): (() => void) => {
  const begun = performance.now();
  let next = begun + Math.min(WARM_MS, (seconds * 1000) / 4);
  return () => {
    const now = performance.now();
    if (now < next) return;
    next = now + SAMPLE_MS;
    samples.push({ hours: (now - begun) / 3_600_000, mb: rush.rssMb() });
  };
};

/** Of the straight line that lies nearest to all samples, in MB an hour. */
const slopeOf = (samples: Sample[]): number => {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [hours, mb] = [mean((each) => each.hours), mean((each) => each.mb)];
  const fanOut = mean((each) => (each.hours - hours) ** 2);
  return mean((each) => (each.hours - hours) * (each.mb - mb)) / fanOut;
};

const main = async (): Promise<void> => {
  const rush = await openRush(Number(values.columns), Number(values.rows));
  try {
    await pause(2000);
    const idle = await shareOver(rush, () => pause(IDLE_MS));
    const samples: Sample[] = [];
    let [busy, rate, keys]: [number, number, number[]] = [0, 0, []];
    await rush.pour(PER_SECOND, async () => {
      await pause(1000);
      const events = rush.events();
      busy = await shareOver(rush, async () => {
        keys = await typeFor(rush, seconds * 1000, sampler(rush, samples));
      });
      rate = (rush.events() - events) / seconds;
    });
    const ms = (share: number) => (keys[Math.floor(keys.length * share)] ?? 0).toFixed(1);
    console.table({
      terminal: `${values.columns}x${values.rows}, ${seconds} s`,
      'events/s': rate.toFixed(0),
      'first frame ms': rush.firstMs.toFixed(0),
      'idle % of a core': idle.toFixed(1),
      'busy % of a core': busy.toFixed(1),
      'resident MB': rush.rssMb().toFixed(0),
      'key to frame ms, p50 and p99': `${ms(0.5)} and ${ms(0.99)}`,
      wipes: rush.wipes(),
      ...(minutes > 0 && { 'slope MB/h': slopeOf(samples).toFixed(1) }),
    });
  } finally {
    await rush.close();
  }
};

await main();
