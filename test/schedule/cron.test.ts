import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { nextTime } from '../../src/schedule/module.js';

export const lab = Lab.script();
const { describe, it } = lab;

/** The next times after `from`, in UTC, in minutes. */
const timesOf = (cron: string, timezone: string, from: string, count: number): string[] => {
  const times: string[] = [];
  for (let now = Date.parse(from); times.length < count; ) {
    const next = nextTime(cron, timezone, now) ?? 'never';
    times.push(next.replace(':00.000Z', 'Z'));
    now = Date.parse(next);
  }
  return times;
};

const BERLIN = 'Europe/Berlin';
const LORD_HOWE = 'Australia/Lord_Howe';

describe('where clocks go back, a schedule', () => {
  it('at a fixed time fires once, at the first of the two', () => {
    const times = timesOf('30 2 * * *', BERLIN, '2026-10-24T12:00:00.000Z', 2);
    expect(times).to.equal(['2026-10-25T00:30Z', '2026-10-26T01:30Z']);
  });

  it('at several fixed times fires once at each', () => {
    const list = timesOf('0,30 2 * * *', BERLIN, '2026-10-24T12:00:00.000Z', 3);
    expect(list).to.equal(['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-26T01:00Z']);
    const range = timesOf('0 1-3 * * *', BERLIN, '2026-10-24T12:00:00.000Z', 3);
    expect(range).to.equal(['2026-10-24T23:00Z', '2026-10-25T00:00Z', '2026-10-25T02:00Z']);
    const steps = timesOf('0 0-23/2 * * *', BERLIN, '2026-10-24T21:00:00.000Z', 3);
    expect(steps).to.equal(['2026-10-24T22:00Z', '2026-10-25T00:00Z', '2026-10-25T03:00Z']);
  });

  it('of every minute fires in both hours, without a minute of silence', () => {
    const times = timesOf('* * * * *', BERLIN, '2026-10-24T23:59:00.000Z', 121);
    const start = Date.parse('2026-10-25T00:00:00.000Z');
    const expected = times.map((_, minute) =>
      new Date(start + minute * 60_000).toISOString().replace(':00.000Z', 'Z'),
    );
    expect(times).to.equal(expected);
  });

  it('of every hour fires in both', () => {
    const times = timesOf('20 * * * *', BERLIN, '2026-10-25T00:00:00.000Z', 3);
    expect(times).to.equal(['2026-10-25T00:20Z', '2026-10-25T01:20Z', '2026-10-25T02:20Z']);
  });

  it('holds where they go back by half an hour', () => {
    const fixed = timesOf('45 1 * * *', LORD_HOWE, '2026-04-03T20:00:00.000Z', 2);
    expect(fixed).to.equal(['2026-04-04T14:45Z', '2026-04-05T15:15Z']);
    const steps = timesOf('*/15 * * * *', LORD_HOWE, '2026-04-04T14:20:00.000Z', 4);
    expect(steps).to.equal([
      '2026-04-04T14:30Z',
      '2026-04-04T14:45Z',
      '2026-04-04T15:00Z',
      '2026-04-04T15:15Z',
    ]);
  });
});

describe('where clocks go forward, a schedule', () => {
  it('at a time that does not exist fires at the first that does', () => {
    const times = timesOf('30 2 * * *', BERLIN, '2027-03-27T12:00:00.000Z', 2);
    expect(times).to.equal(['2027-03-28T01:00Z', '2027-03-29T00:30Z']);
  });

  it('at several times that do not exist fires once for them', () => {
    const times = timesOf('0,30 2 * * *', BERLIN, '2027-03-27T12:00:00.000Z', 2);
    expect(times).to.equal(['2027-03-28T01:00Z', '2027-03-29T00:00Z']);
  });

  it('of every minute goes on without a gap', () => {
    const times = timesOf('* * * * *', BERLIN, '2027-03-28T00:58:00.000Z', 3);
    expect(times).to.equal(['2027-03-28T00:59Z', '2027-03-28T01:00Z', '2027-03-28T01:01Z']);
  });

  it('holds where they go forward by half an hour', () => {
    const fixed = timesOf('15 2 * * *', LORD_HOWE, '2026-10-02T20:00:00.000Z', 2);
    expect(fixed).to.equal(['2026-10-03T15:30Z', '2026-10-04T15:15Z']);
    const steps = timesOf('*/15 * * * *', LORD_HOWE, '2026-10-03T15:00:00.000Z', 3);
    expect(steps).to.equal(['2026-10-03T15:15Z', '2026-10-03T15:30Z', '2026-10-03T15:45Z']);
  });
});
