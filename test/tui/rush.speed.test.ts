import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../harness/app.js';
import { tmuxMissing } from '../harness/tmux.js';
import { openRush, type Rush } from './rush.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

/** A minute is the full promise. CI uses it with `RUSH_SECONDS=60`. */
const SECONDS = Number(process.env.RUSH_SECONDS ?? (process.env.CI === 'true' ? 60 : 12));
const PER_SECOND = 100;
/**
 * Share of a core, as docs/contributing.md promises. On a shared machine the same work takes
 * longer.
 */
const BUDGET = 0.08;
const IDLE = 0.02;
const SLACK = 1.75;
const MAX_MB = 110;
/** A key without a visible effect by then met a freeze, in milliseconds. */
const FREEZE_MS = 1000;
/** Terminal height with room for all of the newest rows. */
const TALL = 700;
const NEWEST = Array.from({ length: 250 }, (_, back) => back);

const missing = tmuxMissing();
const title = missing === null ? 'desk in a rush' : `desk in a rush (skipped: ${missing})`;

describe(title, { skip: missing !== null }, () => {
  let rush: Rush;
  before(async () => {
    rush = await openRush(80, 24);
  });
  after(() => rush.close());

  const KEYS = [
    ['?', 'Help: '],
    ['?', 'Needs you'],
    ['2', 'Latest executions'],
    ['1', 'Needs you'],
  ] as const;

  /** Presses keys for that long. Returns the delay of each, and the maximum memory. */
  const type = async (seconds: number): Promise<{ took: number[]; mostMb: number }> => {
    const took: number[] = [];
    let mostMb = 0;
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      for (const [key, text] of KEYS) {
        took.push(await rush.press(key, text));
        mostMb = Math.max(mostMb, rush.rssMb());
        await pause(200);
      }
    }
    return { took, mostMb };
  };

  /** The newest acknowledged deliveries are in the list, each once. */
  const isWhole = async (last: number): Promise<void> => {
    await rush.tmux.resize(100, TALL);
    const numbers = await until(
      rush.shown,
      (found) => NEWEST.every((back) => found.includes(last - back)),
      30_000,
    );
    expect(new Set(numbers).size).to.equal(numbers.length);
    await rush.tmux.resize(80, 24);
  };

  it('does next to nothing while nothing happens', async () => {
    await pause(1000);
    const [cpuMs, since] = [rush.cpuMs(), performance.now()];
    await pause(5000);
    const share = (rush.cpuMs() - cpuMs) / (performance.now() - since);
    console.log(`    at rest ${(share * 100).toFixed(1)} % of a core`);
    expect(share).to.be.below(IDLE * SLACK);
  });

  it(`takes ${PER_SECOND} events a second for ${SECONDS} s within its budgets`, async () => {
    const last = await rush.pour(PER_SECOND, async () => {
      await rush.tmux.wait(' n0000');
      const [cpuMs, events, since] = [rush.cpuMs(), rush.events(), performance.now()];
      const { took, mostMb } = await type(SECONDS);
      const ms = performance.now() - since;
      const share = (rush.cpuMs() - cpuMs) / ms;
      const perSecond = ((rush.events() - events) * 1000) / ms;
      const slowest = Math.max(...took);
      console.log(
        `    ${perSecond.toFixed(0)} events/s, ${(share * 100).toFixed(1)} % of a core, ` +
          `at most ${mostMb.toFixed(0)} MB, slowest of ${took.length} keys ${slowest.toFixed(0)} ms`,
      );
      expect(perSecond).to.be.above(PER_SECOND * 0.5);
      expect(rush.wipes()).to.equal(0);
      expect(slowest).to.be.below(FREEZE_MS);
      expect(share).to.be.below(BUDGET * SLACK);
      expect(mostMb).to.be.below(MAX_MB);
    });
    await isWhole(last);
  });

  it('loses nothing, and shows nothing twice, when the daemon is killed in the rush', async () => {
    const last = await rush.pour(PER_SECOND, async () => {
      await pause(2000);
      const killed = rush.kill(1500);
      expect(await rush.tmux.wait('LOST')).to.contain('Needs you');
      await killed;
      await rush.tmux.wait('was reloaded');
      expect(await rush.tmux.wait('  live  ')).to.not.contain('LOST');
      await pause(2000);
    });
    await isWhole(last);
  });
});
