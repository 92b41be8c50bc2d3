import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { spansOf, ZONES } from '../schedule/zones.js';
import { openTimeline, type TimedTask } from './timeline.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FROM = Date.parse('2026-01-01T00:00:00.000Z');
const TO = Date.parse('2028-01-01T00:00:00.000Z');

const changesIn = (zone: string): number[] =>
  spansOf(zone, FROM, TO)
    .slice(1)
    .map(({ start }) => start);

/** Returns the recurring task of the three days around a change of the clocks. */
const taskAround = (timezone: string, change: number): TimedTask => {
  const [from, to] = [change - 36 * HOUR_MS, change + 36 * HOUR_MS];
  return {
    title: `every minute ${timezone} ${new Date(change).toISOString()}`,
    schedule: { cron: '* * * * *', timezone },
    ...{ from, to },
    times: Array.from({ length: 72 * 60 }, (_, minute) => from + minute * MINUTE_MS),
  };
};

describe('recurring tasks of every minute', () => {
  for (const zones of [ZONES.slice(0, 3), ZONES.slice(3)]) {
    it(`fire once a minute in the three days around each change of clocks in ${zones.join(', ')}`, async () => {
      const tasks = zones.flatMap((zone) => changesIn(zone).map((at) => taskAround(zone, at)));
      const changes = zones.flatMap(changesIn);
      const course = {
        ...{ from: FROM, to: TO, changes, nearMs: HOUR_MS },
        ...{ longestMs: 38 * MINUTE_MS, chanceOfEvent: 0.012 },
      };
      const timeline = await openTimeline(tasks, course);
      try {
        const { restarts, early, late } = await timeline.run();
        expect(timeline.differences()).to.equal([]);
        expect(Math.min(restarts, early, late)).to.be.above(5);
      } finally {
        await timeline.stop();
      }
    });
  }
});
