import { faultOfRecurrence } from '../../src/schedule/module.js';

export const NOW = Date.parse('2026-11-27T02:00:30.000Z');

export const faultOf = async (rrule: string, timezone = 'UTC'): Promise<string | null> =>
  (await faultOfRecurrence({ rrule, timezone }, NOW))?.message ?? null;

const all = (to: number) => Array.from({ length: to }, (_, at) => at).join();

/** Rules that never come, or that would take long to search. */
export const ENDLESS = [
  'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30',
  'FREQ=DAILY;BYSETPOS=5;BYHOUR=1',
  'FREQ=MINUTELY;INTERVAL=1000;BYMONTH=1;BYMONTHDAY=1;BYHOUR=0;BYMINUTE=1',
  'FREQ=YEARLY;BYWEEKNO=53;BYYEARDAY=100',
  'FREQ=YEARLY;INTERVAL=10000',
  `FREQ=YEARLY;BYDAY=MO;BYSETPOS=366;BYHOUR=${all(2)};BYMINUTE=${all(3)}`,
];
