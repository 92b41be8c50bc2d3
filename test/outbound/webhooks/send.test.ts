import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, until, untilMatches } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { afterEach, describe, it } = lab;

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Longer than an endpoint is left alone after a few failures. */
const REST = 1000;

describe('a webhook’s deliveries', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => openStage(clock));
  afterEach(() => stage.clear());

  const settled = (id: string) => stage.newest(id, ({ finishedAt }) => finishedAt !== null);
  /** How often its owner was told that it is disabled. */
  const told = async (id: string): Promise<number> =>
    (await stage.ask('GET', '/api/notifications?limit=200')).body.notifications.filter(
      (one: { kind: string; link: string }) =>
        one.kind === 'webhook_disabled' && one.link === `/api/webhooks/${id}`,
    ).length;

  it('come after seconds, minutes and hours, and then are given up', async () => {
    stage.answer(500);
    const { id } = await stage.webhook();
    await stage.fire();
    const delays = [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
    for (const [at, delay] of delays.entries()) {
      const { nextAttemptAt, status } = await stage.attempted(id, at + 1);
      const ms = Date.parse(nextAttemptAt) - clock.now();
      expect(status).to.equal('queued');
      expect([ms >= delay, ms <= delay * 1.2], `after attempt ${at + 1}: ${ms} ms`).to.equal([
        true,
        true,
      ]);
      expect(stage.target.received.length).to.equal(at + 1);
      clock.forward(ms);
    }
    const { attempts, status, error, nextAttemptAt } = await settled(id);
    expect({ status, error, nextAttemptAt }).to.equal({
      ...{ status: 'failed', error: '500 from the endpoint', nextAttemptAt: null },
    });
    expect(attempts.length).to.equal(8);
    const { received } = stage.target;
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).to.equal(1);
    expect(new Set(received.map(({ body }) => body)).size).to.equal(1);
    const times = received.map(({ headers }) => headers['webhook-timestamp']);
    expect(times).to.equal(
      attempts.map((one: { at: string }) => `${Math.floor(Date.parse(one.at) / 1000)}`),
    );
  });

  it('go on where they were after the daemon ended in an attempt', async () => {
    stage.target.answer = (response, nth) => {
      if (nth > 1) response.end('at last');
    };
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.target.got(1);
    await stage.test.restart();
    const { status, attempts } = await settled(id);
    expect(status).to.equal('sent');
    expect(attempts.map((one: { response: string }) => one.response)).to.equal([null, 'at last']);
    const [first, second] = stage.target.received;
    expect(second?.headers['webhook-id']).to.equal(first?.headers['webhook-id']);
    expect(second?.body).to.equal(first?.body);
  });

  it('do not follow a redirect, which is a failure', async () => {
    stage.answer(307, { location: `${stage.target.url}/elsewhere` });
    const { id } = await stage.webhook();
    await stage.fire();
    const { status, attempts } = await stage.attempted(id, 1);
    expect(status).to.equal('queued');
    expect(attempts[0]).to.include({
      statusCode: 307,
      error: '307: redirects are not followed',
    });
    expect(stage.target.received.map(({ path }) => path)).to.equal(['/']);
  });

  const rests: [string, () => string, number][] = [
    ['seconds', () => '600', 10 * MINUTE],
    ['a date', () => new Date(clock.now() + 2 * HOUR).toUTCString(), 2 * HOUR],
    ['more than a day', () => '999999', DAY],
  ];
  for (const [what, header, ms] of rests) {
    it(`wait as long as the endpoint asks for in Retry-After: ${what}`, async () => {
      stage.answer(503, { 'retry-after': header() });
      const { id } = await stage.webhook();
      await stage.fire();
      const { nextAttemptAt } = await stage.attempted(id, 1);
      expect(Math.abs(Date.parse(nextAttemptAt) - clock.now() - ms)).to.be.at.most(1000);
    });
  }

  for (const header of ['', 'soon', '-5', 'Thu, 01 Jan 1970 00:00:00 GMT', '1e9']) {
    it(`come in their usual time after a Retry-After of "${header}"`, async () => {
      stage.answer(503, { 'retry-after': header });
      const { id } = await stage.webhook();
      await stage.fire();
      const { nextAttemptAt } = await stage.attempted(id, 1);
      expect(Date.parse(nextAttemptAt) - clock.now()).to.be.between(4999, 6001);
    });
  }

  it('end at once where the endpoint is gone, and so does the webhook', async () => {
    stage.answer(500);
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.attempted(id, 1);
    clock.forward(REST);
    stage.answer(410);
    await stage.fire();
    await untilMatches(() => stage.show(id), { enabled: false });
    const shown = await stage.show(id);
    expect(shown.disabledReason).to.equal('410: the endpoint is gone');
    const [gone, waiting] = await stage.deliveries(id);
    expect([gone.status, gone.error]).to.equal(['failed', '410: the endpoint is gone']);
    expect(gone.attempts[0]).to.include({ statusCode: 410, response: 'said 410' });
    expect([waiting.status, waiting.nextAttemptAt]).to.equal(['failed', null]);
    expect(waiting.error).to.equal(
      'The webhook is disabled. Enable the webhook, then resend this message',
    );
    expect(await told(id)).to.equal(1);
    await stage.fire();
    await stage.ask('PATCH', `/api/webhooks/${id}`, { enabled: true });
    expect(await stage.show(id)).to.include({ enabled: true, disabledReason: null });
    stage.answer(200);
    await stage.fire();
    await until(
      () => stage.deliveries(id),
      (all) => all.length === 3 && all[0].status === 'sent',
    );
    expect(stage.target.received.length).to.equal(3);
  });

  it('end, and so does the webhook, after five days without one that arrived', async () => {
    stage.answer(500);
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.attempted(id, 1);
    const since = (await stage.show(id)).stats.failingSince;
    expect(since).to.equal(new Date(clock.now()).toISOString());
    await stage.ask('POST', `/api/webhooks/${id}/test`);
    clock.forward(5 * DAY - 1);
    expect((await stage.attempted(id, 2)).status).to.not.equal('sent');
    expect(await stage.show(id)).to.include({ enabled: true });
    clock.forward(REST);
    await stage.fire();
    await untilMatches(() => stage.show(id), { enabled: false });
    const { disabledReason } = await stage.show(id);
    expect(disabledReason).to.include(`for 5 days, since ${since}`);
    expect(await told(id)).to.equal(1);
  });

  it('begin to count anew with one that arrived', async () => {
    stage.answer(500);
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.attempted(id, 1);
    stage.answer(200);
    clock.forward(3 * DAY);
    await settled(id);
    expect((await stage.show(id)).stats.failingSince).to.be.null();
    stage.answer(500);
    clock.forward(3 * DAY);
    await stage.fire();
    await stage.attempted(id, 1);
    expect(await stage.show(id)).to.include({ enabled: true });
  });
});
