import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { until } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('a webhook with a rate', () => {
  const stage = openForSuite(lab, openStage);
  beforeEach(() => stage.clear());

  /** Takes down when each message arrived. */
  const arrivals = (): number[] => {
    const times: number[] = [];
    stage.target.answer = (response) => {
      times.push(performance.now());
      response.end('fine');
    };
    return times;
  };
  const order = () => stage.target.received.map(({ body }) => JSON.parse(body).data.executionId);

  it('gets its messages in their order, so many a minute, and loses none', async () => {
    const { id } = await stage.webhook({ events: ['hook.executed'], ratePerMinute: 300 });
    const times = arrivals();
    const fired: string[] = [];
    for (let count = 0; count < 6; count++) fired.push(await stage.fire());
    await stage.target.got(6);
    expect(order()).to.equal(fired);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).to.be.above(5 * 200 - 150);
    const [webhook] = (await stage.ask('GET', '/api/webhooks')).body.webhooks;
    await until(
      async () => (await stage.ask('GET', `/api/webhooks/${webhook.id}`)).body.stats,
      ({ sent, waiting }) => sent === 6 && waiting === 0,
    );
    // The pace is that of the attempts: how long one is on its way is not the daemon's doing.
    const begun: number[] = (await stage.deliveries(id)).flatMap(({ attempts }) =>
      attempts.map(({ at }: { at: string }) => Date.parse(at)),
    );
    const sorted = begun.sort((a, b) => a - b);
    const gaps = sorted.slice(1).map((at, n) => at - (sorted[n] ?? 0));
    expect([gaps.length, Math.min(...gaps) > 150]).to.equal([5, true]);
  });

  it('rests as long as Retry-After says, and then goes on', async () => {
    await stage.webhook({ events: ['hook.executed'], ratePerMinute: 6000 });
    const times: number[] = [];
    stage.target.answer = (response, nth) => {
      times.push(performance.now());
      if (nth > 1) return response.end('fine');
      return response.writeHead(429, { 'retry-after': '1' }).end();
    };
    for (let count = 0; count < 3; count++) await stage.fire();
    await stage.target.got(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).to.be.above(990);
  });
});
