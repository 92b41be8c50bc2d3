import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { nextRunAt } from '../../src/recurring/rules.js';
import { dailyTimes, hourlyTimes, type Span, spansOf, ZONES } from './zones.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FROM = Date.parse('2026-01-01T00:00:00.000Z');
const TO = Date.parse('2028-01-01T00:00:00.000Z');
const spans = new Map(ZONES.map((zone) => [zone, spansOf(zone, FROM, TO)]));
const spansIn = (zone: string): Span[] => spans.get(zone) ?? [];

/** A sequence of numbers from 0 to 1 that is the same in every run. */
const chances = () => {
  let state = 42;
  return (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
};

/**
 * Fires a schedule from one time to another. Now and then the daemon restarts between two due times,
 * or its clock is set by an hour either way, and the next due time is computed anew.
 */
const fired = async (schedule: object, { from, to }: { from: number; to: number }) => {
  const chance = chances();
  const row = {
    schedule: JSON.stringify(schedule),
    starts_at: new Date(FROM).toISOString(),
    ends_at: null,
    last_due_at: null as string | null,
  };
  const times: number[] = [];
  let next = await nextRunAt(row, from - 1);
  while (next !== null && Date.parse(next) < to) {
    const at = Date.parse(next);
    times.push(at);
    row.last_due_at = next;
    const isBack = chance() < 0.05;
    next = await nextRunAt(row, isBack ? at - HOUR_MS : at);
    if (chance() < 0.05 && next !== null) {
      const between = at + Math.floor(chance() * (Date.parse(next) - at));
      expect(await nextRunAt(row, between)).to.equal(next);
    }
  }
  return times;
};

/** The stretch of three days around each change of the clocks. */
const aroundChanges = (zone: string): { from: number; to: number }[] =>
  spansIn(zone)
    .slice(1)
    .map(({ start }) => ({ from: start - 36 * HOUR_MS, to: start + 36 * HOUR_MS }));

/** Compares as text, so that a difference can be read. */
const same = (found: number[], expected: number[]): void => {
  const text = (times: number[]) => times.map((at) => new Date(at).toISOString().slice(0, 16));
  expect(text(found)).to.equal(text(expected));
};

const within = (times: number[], { from, to }: { from: number; to: number }): number[] =>
  times.filter((at) => at >= from && at < to);

describe('a schedule over the changes of the clocks', () => {
  for (const zone of ZONES) {
    it(`fires once in every minute around each change in ${zone}`, async () => {
      const stretches = aroundChanges(zone);
      // Three in Morocco, which gave up its changes by newer data of zones.
      expect(stretches.length).to.be.at.least(3);
      for (const { from, to } of stretches) {
        const count = (to - from) / MINUTE_MS;
        const every = Array.from({ length: count }, (_, minute) => from + minute * MINUTE_MS);
        same(await fired({ cron: '* * * * *', timezone: zone }, { from, to }), every);
      }
    });

    it(`fires hourly and daily over two years in ${zone}`, async () => {
      const all = { from: FROM, to: TO };
      const hourly = hourlyTimes(spansIn(zone), [0]);
      for (const stretch of aroundChanges(zone)) {
        same(await fired({ cron: '0 * * * *', timezone: zone }, stretch), within(hourly, stretch));
      }
      for (const [hour, minute] of [
        [1, 30],
        [2, 15],
        [2, 30],
        [0, 0],
      ] as const) {
        const cron = `${minute} ${hour} * * *`;
        same(await fired({ cron, timezone: zone }, all), dailyTimes(spansIn(zone), hour, minute));
      }
    });

    it(`fires by rules over two years in ${zone}`, async () => {
      const all = { from: FROM, to: TO };
      const rrule = 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30';
      same(await fired({ rrule, timezone: zone }, all), dailyTimes(spansIn(zone), 2, 30));
      const midnight = 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR=0;BYMINUTE=0';
      same(await fired({ rrule: midnight, timezone: zone }, all), dailyTimes(spansIn(zone), 0, 0));
      const quarters = hourlyTimes(spansIn(zone), [0, 15, 45]);
      const minutes = hourlyTimes(
        spansIn(zone),
        Array.from({ length: 60 }, (_, at) => at),
      );
      for (const stretch of aroundChanges(zone)) {
        const hours = { rrule: 'FREQ=HOURLY;BYMINUTE=0,15,45', timezone: zone };
        same(await fired(hours, stretch), within(quarters, stretch));
        const middle = stretch.from + 36 * HOUR_MS;
        const near = { from: middle - 2 * HOUR_MS, to: middle + 2 * HOUR_MS };
        const every = { rrule: 'FREQ=MINUTELY', timezone: zone };
        same(await fired(every, near), within(minutes, near));
      }
    });
  }
});
