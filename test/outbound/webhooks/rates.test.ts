import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { createRates } from '../../../src/outbound/rates.js';
import { frozenClock, until, untilMatches } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { describe, it, beforeEach } = lab;

describe('createRates', () => {
  it('gives a turn to each message, evenly, and says how long the next one waits', () => {
    const clock = frozenClock();
    const { take } = createRates(clock);
    expect(take('webhook_1', 60)).to.equal(1000);
    expect(take('webhook_1', 60)).to.equal(-1000);
    expect(take('webhook_2', 60)).to.equal(1000);
    clock.forward(400);
    expect(take('webhook_1', 60)).to.equal(-600);
    clock.forward(600);
    expect(take('webhook_1', 60)).to.equal(1000);
  });

  it('keeps nobody waiting by a rate that was lower before', () => {
    const { take } = createRates(frozenClock());
    take('webhook_1', 1);
    expect(take('webhook_1', 600)).to.equal(-100);
  });
});

describe('a webhook with a rate', () => {
  const stage = openForSuite(lab, openStage);
  beforeEach(() => stage.clear());

  const order = () => stage.target.received.map(({ body }) => JSON.parse(body).data.executionId);

  it('gets its messages in their order, and loses none', async () => {
    const { id } = await stage.webhook({ events: ['hook.executed'], ratePerMinute: 300 });
    const fired: string[] = [];
    for (let count = 0; count < 6; count++) fired.push(await stage.fire());
    await stage.target.got(6);
    expect(order()).to.equal(fired);
    const [webhook] = (await stage.ask('GET', '/api/webhooks')).body.webhooks;
    await until(
      async () => (await stage.ask('GET', `/api/webhooks/${webhook.id}`)).body.stats,
      ({ sent, waiting }) => sent === 6 && waiting === 0,
    );
    const attempts = (await stage.deliveries(id)).map((delivery) => delivery.attempts.length);
    expect(attempts).to.equal(Array(6).fill(1));
  });

  it('makes no attempt while a message waits for its turn', async () => {
    const { id } = await stage.webhook({ events: ['hook.executed'], ratePerMinute: 1 });
    await stage.fire();
    await stage.target.got(1);
    await stage.fire();
    await stage.fire();
    const waiting = await untilMatches(() => stage.deliveries(id, '?status=queued'), { length: 2 });
    expect(waiting.map(({ attempts }) => attempts.length)).to.equal([0, 0]);
    expect(stage.target.received).to.have.length(1);
  });

  it('is unlimited again where the rate is taken away', async () => {
    const { id, ratePerMinute } = await stage.webhook({ ratePerMinute: 1 });
    expect(ratePerMinute).to.equal(1);
    const { body } = await stage.ask('PATCH', `/api/webhooks/${id}`, { ratePerMinute: null });
    expect(body.ratePerMinute).to.be.null();
    for (let count = 0; count < 3; count++) await stage.fire();
    await stage.target.got(3);
  });

  it('refuses a rate that is none', async () => {
    for (const ratePerMinute of [0, 6001, 1.5, '60']) {
      const body = { name: 'app', url: stage.target.url, events: ['*'], ratePerMinute };
      const reply = await stage.ask('POST', '/api/webhooks', body);
      expect([reply.status, reply.body.details[0].path]).to.equal([400, 'ratePerMinute']);
    }
  });
});
