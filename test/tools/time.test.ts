import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { timeTools } from '../../src/tools/time.js';
import { frozenClock } from '../harness/clock.js';
import { contextOf, failureOf } from './context.js';

export const lab = Lab.script();
const { describe, it } = lab;

describe('time.now', () => {
  const at = (time: string) => frozenClock(Date.parse(time));
  const run = async (args: Record<string, unknown>, time = '2026-01-31T23:30:05.250Z') =>
    timeTools(at(time)).tools[0]?.run(args, contextOf());

  it('returns the time in UTC', async () => {
    expect(await run({})).to.equal({
      iso: '2026-01-31T23:30:05.250Z',
      timezone: 'UTC',
      local: '2026-01-31T23:30:05+00:00',
      weekday: 'Saturday',
    });
  });

  it('returns the time of a zone with its offset and its own day', async () => {
    expect(await run({ timezone: 'Asia/Kolkata' })).to.equal({
      iso: '2026-01-31T23:30:05.250Z',
      timezone: 'Asia/Kolkata',
      local: '2026-02-01T05:00:05+05:30',
      weekday: 'Sunday',
    });
    const summer = await run({ timezone: 'America/New_York' }, '2026-07-01T04:00:00.000Z');
    expect(summer).to.equal({
      iso: '2026-07-01T04:00:00.000Z',
      timezone: 'America/New_York',
      local: '2026-07-01T00:00:00-04:00',
      weekday: 'Wednesday',
    });
  });

  it('refuses a zone that is none, naming the field', async () => {
    for (const timezone of ['Europe/Atlantis', 'Europe/../UTC']) {
      expect(await failureOf(run({ timezone }))).to.equal({
        name: 'ToolRefused',
        message:
          'time.now: timezone must be a time zone of the IANA database, such as Europe/Berlin',
        details: [
          {
            path: 'timezone',
            message: 'must be a time zone of the IANA database, such as Europe/Berlin',
          },
        ],
      });
    }
    const { message } = await failureOf(run({ timezone: 5 }));
    expect(message).to.equal('time.now: timezone must be a string');
  });

  it('has no effects', () => {
    const tool = timeTools(at('2026-01-31T00:00:00.000Z')).tools[0];
    expect([tool?.sideEffects, tool?.once, tool?.sendsOut]).to.equal([false, false, false]);
    expect(tool?.isSafe({})).to.be.true();
  });
});
