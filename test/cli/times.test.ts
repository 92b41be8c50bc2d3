import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { age, ago, duration, localTime } from '../../cli/text.js';

export const lab = Lab.script();
const { describe, it } = lab;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const back = (ms: number): string => new Date(Date.now() - ms).toISOString();

describe('times', () => {
  it('say how long ago something was, or how far it is', () => {
    const given = [0, 8 * SECOND, 90 * SECOND, 3 * HOUR, 25 * HOUR, 72 * HOUR];
    expect(given.map((ms) => ago(back(ms)))).to.equal([
      'just now',
      '8 seconds ago',
      '1 minute ago',
      '3 hours ago',
      '1 day ago',
      '3 days ago',
    ]);
    expect(ago(back(-49 * HOUR))).to.equal('in 2 days');
    expect(age(null)).to.equal('never');
  });

  it('say how long something took', () => {
    const given = [7.4, 840, 8400, 33_200, 125_000, 2 * HOUR + 5 * MINUTE];
    expect(given.map(duration)).to.equal([
      '7 ms',
      '840 ms',
      '8.4 s',
      '33 s',
      '2 m 05 s',
      '2 h 05 m',
    ]);
  });

  it('name the day only where it is another one', () => {
    expect(localTime(back(0))).to.match(/^\d\d:\d\d:\d\d$/);
    expect(localTime(back(48 * HOUR))).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });
});
