import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { nextOccurrence } from '../../src/schedule/module.js';
import { ENDLESS, faultOf, NOW } from './endless.js';

export const lab = Lab.script();
const { describe, it } = lab;

const timesOf = async (rrule: string, count: number, timezone = 'UTC'): Promise<string[]> => {
  const times: string[] = [];
  let at: string | null = null;
  while (times.length < count) {
    at = await nextOccurrence({ rrule, timezone }, NOW, at === null ? NOW : Date.parse(at));
    if (at === null) break;
    times.push(at.slice(0, 16));
  }
  return times;
};

describe('a recurrence rule', () => {
  it('begins at its start, or where it was saved', async () => {
    expect(await timesOf('FREQ=DAILY', 2)).to.equal(['2026-11-28T02:00', '2026-11-29T02:00']);
    const rrule = 'DTSTART:20270101T093000\nRRULE:FREQ=WEEKLY;INTERVAL=2';
    expect(await timesOf(rrule, 2, 'Europe/Berlin')).to.equal([
      '2027-01-01T08:30',
      '2027-01-15T08:30',
    ]);
  });

  it('ends after its count, or at its end in local time or UTC', async () => {
    const daily = 'DTSTART:20261201T000000\nRRULE:FREQ=DAILY';
    expect(await timesOf(`${daily};COUNT=3`, 9)).to.have.length(3);
    expect(await timesOf(`${daily};UNTIL=20261202`, 9)).to.have.length(2);
    expect(await timesOf(`${daily};UNTIL=20261202T000000Z`, 9)).to.have.length(2);
    expect(await timesOf(`${daily};UNTIL=20261202T000000`, 9, 'America/New_York')).to.have.length(
      2,
    );
    expect(await timesOf(`${daily};UNTIL=20261202T000000Z`, 9, 'America/New_York')).to.have.length(
      1,
    );
  });

  it('finds last weekdays and leap days', async () => {
    expect(await timesOf('FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16;BYMINUTE=0', 2)).to.equal([
      '2026-11-27T16:00',
      '2026-12-25T16:00',
    ]);
    expect(await timesOf('FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=0;BYMINUTE=0', 2)).to.equal([
      '2028-02-29T00:00',
      '2032-02-29T00:00',
    ]);
  });

  it('says what it must be', async () => {
    const faults: [string, RegExp][] = [
      ['', /parts such as FREQ=DAILY/],
      ['FREQ=SECONDLY', /one of MINUTELY, HOURLY/],
      ['FREQ=DAILY;FREQ=DAILY', /FREQ only once/],
      ['FREQ=DAILY;COLOR=RED', /not have COLOR/],
      ['FREQ=DAILY;BYHOUR=24', /BYHOUR with numbers from 0 to 23/],
      ['FREQ=MONTHLY;BYMONTHDAY=0', /BYMONTHDAY with numbers from 1 to 31, or -1 to -31/],
      ['FREQ=DAILY;INTERVAL=0', /INTERVAL from 1 to 10000/],
      ['FREQ=DAILY;COUNT=1001', /COUNT from 1 to 1000/],
      ['FREQ=HOURLY;COUNT=3', /not have COUNT with HOURLY. Use maxRuns/],
      ['FREQ=DAILY;COUNT=3;UNTIL=20270101', /not have both COUNT and UNTIL/],
      ['FREQ=DAILY;UNTIL=20270230', /UNTIL such as 20261231T230000Z/],
      ['FREQ=DAILY;UNTIL=20200101', /a future time/],
      ['FREQ=WEEKLY;BYDAY=XX', /BYDAY such as MO,WE or -1FR/],
      ['FREQ=WEEKLY;BYDAY=2MO', /RFC 5545/],
      ['DTSTART:tomorrow\nRRULE:FREQ=DAILY', /DTSTART:20260131T090000, not "tomorrow"/],
      ['RRULE:FREQ=DAILY\nRRULE:FREQ=WEEKLY', /only one RRULE line/],
      ['RRULE:FREQ=DAILY\nSUMMARY:Walk', /not have a SUMMARY line/],
      ['RRULE:FREQ=DAILY\nEXRULE:FREQ=WEEKLY', /not have an EXRULE line/],
    ];
    for (const [rrule, said] of faults) expect(await faultOf(rrule), rrule).to.match(said);
  });

  it('that never comes, or would take long, is refused', async () => {
    await faultOf('FREQ=DAILY');
    for (const rrule of ENDLESS) {
      expect(await faultOf(rrule, 'Africa/Casablanca'), rrule).to.match(/a future time|RFC 5545/);
    }
  });
});
