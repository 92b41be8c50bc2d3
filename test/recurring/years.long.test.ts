import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { dailyTimes, hourlyTimes, type Span, spansOf, ZONES } from '../schedule/zones.js';
import { openTimeline, type TimedTask } from './timeline.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HOUR_MS = 3_600_000;
const FROM = Date.parse('2026-01-01T00:00:00.000Z');
const TO = Date.parse('2028-01-01T00:00:00.000Z');

const tasksOf = (timezone: string, spans: Span[]): TimedTask[] => {
  const given: [Omit<TimedTask['schedule'], 'timezone'>, number[]][] = [
    [{ cron: '0 * * * *' }, hourlyTimes(spans, [0])],
    [{ cron: '30 1 * * *' }, dailyTimes(spans, 1, 30)],
    [{ cron: '15 2 * * *' }, dailyTimes(spans, 2, 15)],
    [{ cron: '30 2 * * *' }, dailyTimes(spans, 2, 30)],
    [{ rrule: 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30' }, dailyTimes(spans, 2, 30)],
  ];
  return given.map(([schedule, times]) => ({
    title: `${schedule.cron ?? schedule.rrule} ${timezone}`,
    schedule: { ...schedule, timezone },
    ...{ from: FROM, to: TO, times },
  }));
};

describe('recurring tasks by the hour and by the day', () => {
  it('fire once at each time of two years in six zones', async () => {
    const zones = ZONES.map((zone) => ({ zone, spans: spansOf(zone, FROM, TO) }));
    const tasks = zones.flatMap(({ zone, spans }) => tasksOf(zone, spans));
    const changes = zones.flatMap(({ spans }) => spans.slice(1).map(({ start }) => start));
    const course = {
      ...{ from: FROM, to: TO, changes, nearMs: 2 * HOUR_MS },
      ...{ longestMs: 80 * HOUR_MS, chanceOfEvent: 0.05 },
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
});
