import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { quietUntil } from '../../src/outbound/quiethours.js';

export const lab = Lab.script();
const { describe, it } = lab;

const BERLIN = { from: '22:00', to: '07:00', timezone: 'Europe/Berlin' };

const endOf = (hours: { from: string; to: string; timezone: string }, now: string) => {
  const end = quietUntil(hours, Date.parse(now));
  return end === null ? null : new Date(end).toISOString();
};

describe('quietUntil', () => {
  it('begins with the first time and ends with the second, over midnight', () => {
    expect(endOf(BERLIN, '2026-01-10T20:59:59.999Z')).to.equal(null);
    expect(endOf(BERLIN, '2026-01-10T21:00:00.000Z')).to.equal('2026-01-11T06:00:00.000Z');
    expect(endOf(BERLIN, '2026-01-11T05:59:59.999Z')).to.equal('2026-01-11T06:00:00.000Z');
    expect(endOf(BERLIN, '2026-01-11T06:00:00.000Z')).to.equal(null);
  });

  it('knows hours that lie within one day', () => {
    const lunch = { from: '12:00', to: '13:30', timezone: 'Asia/Kolkata' };
    expect(endOf(lunch, '2026-05-01T06:29:59.000Z')).to.equal(null);
    expect(endOf(lunch, '2026-05-01T06:30:00.000Z')).to.equal('2026-05-01T08:00:00.000Z');
    expect(endOf(lunch, '2026-05-01T08:00:00.000Z')).to.equal(null);
  });

  it('is an hour shorter in the night in which clocks are put forward', () => {
    expect(endOf(BERLIN, '2026-03-28T21:00:00.000Z')).to.equal('2026-03-29T05:00:00.000Z');
    expect(endOf(BERLIN, '2026-03-29T04:59:00.000Z')).to.equal('2026-03-29T05:00:00.000Z');
    expect(endOf(BERLIN, '2026-03-29T05:00:00.000Z')).to.equal(null);
    expect(endOf(BERLIN, '2026-03-29T20:00:00.000Z')).to.equal('2026-03-30T05:00:00.000Z');
  });

  it('is an hour longer in the night in which they are put back', () => {
    expect(endOf(BERLIN, '2026-10-24T20:00:00.000Z')).to.equal('2026-10-25T06:00:00.000Z');
    expect(endOf(BERLIN, '2026-10-25T05:30:00.000Z')).to.equal('2026-10-25T06:00:00.000Z');
    expect(endOf(BERLIN, '2026-10-25T20:59:00.000Z')).to.equal(null);
    expect(endOf(BERLIN, '2026-10-25T21:00:00.000Z')).to.equal('2026-10-26T06:00:00.000Z');
  });

  it('ends with the second of two times that clocks show, and wakes nobody before', () => {
    const early = { ...BERLIN, to: '02:30' };
    for (const now of ['2026-10-25T00:29:00.000Z', '2026-10-25T00:45:00.000Z']) {
      expect(endOf(early, now)).to.equal('2026-10-25T01:30:00.000Z');
    }
    expect(endOf(early, '2026-10-25T01:30:00.000Z')).to.equal(null);
  });

  it('shifts a time that clocks skip', () => {
    const early = { ...BERLIN, to: '02:30' };
    expect(endOf(early, '2026-03-29T00:59:00.000Z')).to.equal('2026-03-29T01:30:00.000Z');
    expect(endOf({ ...BERLIN, from: '02:30' }, '2026-03-29T01:29:00.000Z')).to.equal(null);
    expect(endOf({ ...BERLIN, from: '02:30' }, '2026-03-29T01:30:00.000Z')).to.equal(
      '2026-03-29T05:00:00.000Z',
    );
  });

  it('agrees with the clock on the wall through two years, minute by quarter hour', () => {
    for (const timezone of ['America/New_York', 'Australia/Lord_Howe', 'Pacific/Chatham', 'UTC']) {
      const wall = new Intl.DateTimeFormat('en-GB', {
        ...{ timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
      });
      const hours = { from: '22:00', to: '07:00', timezone };
      for (let now = Date.UTC(2026, 0); now < Date.UTC(2028, 0); now += 7 * 900_000) {
        const shown = wall.format(now);
        const isQuiet = shown >= '22:00' || shown < '07:00';
        const until = quietUntil(hours, now);
        expect([timezone, now, until !== null]).to.equal([timezone, now, isQuiet]);
        if (until !== null) expect(wall.format(until)).to.equal('07:00');
      }
    }
  });
});
