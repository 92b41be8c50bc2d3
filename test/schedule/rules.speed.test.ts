import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { faultOfRecurrence } from '../../src/schedule/module.js';
import { computedMs, limitMs } from '../generated/block.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The most that a search computes on a quiet machine; the longest of those below takes 30 to 45. */
const MAX_SEARCH_MS = 100;
const NOW = Date.parse('2026-11-27T02:00:30.000Z');

const faultOf = async (rrule: string, timezone = 'UTC'): Promise<string | null> =>
  (await faultOfRecurrence({ rrule, timezone }, NOW))?.message ?? null;

describe('a recurrence rule', () => {
  it('that never comes, or would take long, is refused quickly', async () => {
    const all = (to: number) => Array.from({ length: to }, (_, at) => at).join();
    await faultOf('FREQ=DAILY');
    for (const rrule of [
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=DAILY;BYSETPOS=5;BYHOUR=1',
      'FREQ=MINUTELY;INTERVAL=1000;BYMONTH=1;BYMONTHDAY=1;BYHOUR=0;BYMINUTE=1',
      'FREQ=YEARLY;BYWEEKNO=53;BYYEARDAY=100',
      'FREQ=YEARLY;INTERVAL=10000',
      `FREQ=YEARLY;BYDAY=MO;BYSETPOS=366;BYHOUR=${all(2)};BYMINUTE=${all(3)}`,
    ]) {
      const before = computedMs();
      expect(await faultOf(rrule, 'Africa/Casablanca'), rrule).to.match(/a future time|RFC 5545/);
      expect(computedMs() - before, rrule).to.be.below(limitMs(MAX_SEARCH_MS));
    }
  });
});
