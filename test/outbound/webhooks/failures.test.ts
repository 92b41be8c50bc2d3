import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, until, untilMatches } from '../../harness/app.js';
import { inside } from '../../harness/inside.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { afterEach, describe, it } = lab;

const HOUR = 3600_000;
const DAY = 24 * HOUR;
/** Longer than an endpoint is left alone after a few failures. */
const REST = 1000;

describe('a webhook whose endpoint fails', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => openStage(clock));
  afterEach(() => stage.clear());

  /** Lets the owner's events, which rest, be turned into messages. */
  const resume = () => {
    inside(stage.test.app).outgoing.rest(`owner_${stage.owner.id}`, 1);
    clock.forward(1);
  };
  const disabled = (id: string) => untilMatches(() => stage.show(id), { enabled: false });

  it('is not disabled by the first failure after days of silence', async () => {
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.newest(id, ({ status }) => status === 'sent');
    stage.answer(500);
    clock.forward(6 * DAY);
    const since = new Date(clock.now()).toISOString();
    await stage.fire();
    await stage.attempted(id, 1);
    expect(await stage.show(id)).to.include({ enabled: true });
    expect((await stage.show(id)).stats.failingSince).to.equal(since);
    clock.forward(5 * DAY - 1);
    await stage.attempted(id, 2);
    expect(await stage.show(id)).to.include({ enabled: true });
    clock.forward(REST);
    await stage.fire();
    expect((await disabled(id)).disabledReason).to.include(`since ${since}`);
  });

  it('is not left alone any longer once its owner sends again, or changes its address', async () => {
    stage.target.answer = (response) => response.writeHead(503, { 'retry-after': '600' }).end();
    const { id } = await stage.webhook();
    await stage.fire();
    const { id: first } = await stage.attempted(id, 1);
    await stage.fire();
    const path = `/api/webhooks/${id}`;
    await stage.ask('PATCH', path, { enabled: false });
    await stage.ask('PATCH', path, { enabled: true });
    await stage.ask('POST', `${path}/deliveries/${first}/resend`);
    await stage.target.got(2);
    await until(
      async () => (await stage.deliveries(id)).at(-1),
      ({ attempts }) => attempts.length === 2,
    );
    stage.answer(200);
    await stage.fire();
    await stage.ask('PATCH', path, { url: `${stage.target.url}/new` });
    await stage.newest(id, ({ status }) => status === 'sent');
    expect(stage.target.received.map((one) => one.path)).to.equal(['/', '/', '/new']);
  });

  it('keeps what happened before it was disabled, and was not turned into messages yet', async () => {
    stage.answer(200);
    const { id } = await stage.webhook();
    const path = `/api/webhooks/${id}`;
    const { outgoing } = inside(stage.test.app);
    const lane = `owner_${stage.owner.id}`;
    outgoing.rest(lane, 60_000);
    await stage.fire();
    clock.forward(1);
    await stage.ask('PATCH', path, { enabled: false });
    clock.forward(1);
    expect(await stage.deliveries(id)).to.equal([]);
    resume();
    const failed = await stage.newest(id, ({ status }) => status === 'failed');
    expect(failed).to.include({ attempts: [], nextAttemptAt: null });
    expect(failed.error).to.include('disabled');
    await stage.fire();
    await stage.ask('PATCH', path, { enabled: true });
    expect(await stage.deliveries(id)).to.have.length(1);
    await stage.ask('POST', `${path}/deliveries/${failed.id}/resend`);
    await stage.newest(id, ({ status }) => status === 'sent');
    expect(await stage.deliveries(id)).to.have.length(1);
  });

  it('is not sent what happened while it was disabled, although it is turned into messages later', async () => {
    stage.answer(200);
    const { id } = await stage.webhook();
    const other = await stage.webhook({ name: 'other' });
    const path = `/api/webhooks/${id}`;
    const { outgoing } = inside(stage.test.app);
    const lane = `owner_${stage.owner.id}`;
    await stage.ask('PATCH', path, { enabled: false });
    clock.forward(1000);
    outgoing.rest(lane, 60_000);
    await stage.fire();
    clock.forward(1000);
    await stage.ask('PATCH', path, { enabled: true });
    resume();
    await stage.newest(other.id, ({ status }) => status === 'sent');
    expect(await stage.deliveries(id)).to.equal([]);
  });

  it('is not sent what happened before it was disabled, although it was enabled at once', async () => {
    stage.answer(200);
    const { id } = await stage.webhook();
    const path = `/api/webhooks/${id}`;
    const lane = `owner_${stage.owner.id}`;
    inside(stage.test.app).outgoing.rest(lane, 60_000);
    await stage.fire();
    await stage.ask('PATCH', path, { enabled: false });
    await stage.ask('PATCH', path, { enabled: true });
    resume();
    const failed = await stage.newest(id, ({ status }) => status === 'failed');
    expect(failed.error).to.include('disabled');
    await stage.fire();
    await stage.newest(id, ({ status }) => status === 'sent');
    expect(stage.target.received.length).to.equal(1);
  });

  it('is sent what happens after it was enabled, although the clock is set back', async () => {
    stage.answer(200);
    const { id } = await stage.webhook({ enabled: false });
    await stage.ask('PATCH', `/api/webhooks/${id}`, { enabled: true });
    clock.shift(-HOUR);
    await stage.fire();
    await stage.newest(id, ({ status }) => status === 'sent');
    clock.forward(HOUR);
  });

  it('begins anew with a test that arrives', async () => {
    stage.answer(500);
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.attempted(id, 1);
    stage.answer(200);
    expect((await stage.ask('POST', `/api/webhooks/${id}/test`)).body.delivered).to.be.true();
    expect((await stage.show(id)).stats.failingSince).to.be.null();
    stage.answer(500);
    clock.forward(5 * DAY);
    await stage.attempted(id, 2);
    expect(await stage.show(id)).to.include({ enabled: true });
  });

  for (const status of [410, 500]) {
    it(`is not disabled for a ${status} of the address that it had`, async () => {
      stage.answer(500);
      const { id } = await stage.webhook();
      await stage.fire();
      await stage.attempted(id, 1);
      clock.forward(5 * DAY - 1);
      await stage.attempted(id, 2);
      const late: (() => void)[] = [];
      stage.target.answer = (response) => late.push(() => response.writeHead(status).end());
      clock.forward(REST);
      await stage.fire();
      await stage.target.got(3);
      const url = `${stage.target.url}/moved`;
      await stage.ask('PATCH', `/api/webhooks/${id}`, { url });
      for (const answered of late) answered();
      const { attempts } = await stage.attempted(id, 1);
      expect(attempts[0]).to.include({ statusCode: status });
      expect(attempts[0].error).to.match(/^\d{3}\b.*\(at the previous URL\)$/);
      expect(await stage.show(id)).to.include({ enabled: true, url });
      stage.answer(200);
      clock.forward(HOUR);
      await stage.newest(id, ({ status }) => status === 'sent');
      expect(stage.target.received.at(-1)?.path).to.equal('/moved');
    });
  }
});
