import type { ServerResponse } from 'node:http';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, until, untilMatches } from '../../harness/app.js';
import { openForSuite } from '../../harness/suite.js';
import { openStage } from './stage.js';

export const lab = Lab.script();
const { afterEach, describe, it } = lab;

describe('deliveries of a webhook', () => {
  const clock = frozenClock();
  const stage = openForSuite(lab, () => openStage(clock));
  afterEach(() => stage.clear());

  const resend = (id: string, deliveryId: string) =>
    stage.ask('POST', `/api/webhooks/${id}/deliveries/${deliveryId}/resend`);
  const isSent = ({ status }: { status: string }) => status === 'sent';

  it('are listed newest first, by page and by status', async () => {
    const { id } = await stage.webhook();
    for (const count of [1, 2, 3]) {
      await stage.fire();
      await until(
        () => stage.deliveries(id),
        (all) => all.length === count && all.every(isSent),
      );
    }
    const path = `/api/webhooks/${id}/deliveries`;
    const { body: first } = await stage.ask('GET', `${path}?limit=2`);
    const { body: rest } = await stage.ask('GET', `${path}?limit=2&cursor=${first.nextCursor}`);
    expect([first.deliveries.length, rest.deliveries.length, rest.nextCursor]).to.equal([
      2,
      1,
      null,
    ]);
    expect([...first.deliveries, ...rest.deliveries]).to.equal(await stage.deliveries(id));
    expect((await stage.deliveries(id, '?status=sent')).length).to.equal(3);
    expect(await stage.deliveries(id, '?status=failed')).to.equal([]);
    const wrong = await stage.ask('GET', `${path}?status=lost`);
    expect([wrong.status, wrong.body.details[0].path]).to.equal([400, 'status']);
  });

  it('go again under the same id, with the schedule from its beginning', async () => {
    const { id } = await stage.webhook();
    await stage.fire();
    const first = await stage.newest(id, isSent);
    stage.answer(500);
    const reply = await resend(id, first.id);
    expect(reply.status).to.equal(202);
    expect(reply.body).to.include({ id: first.id, webhookId: first.webhookId });
    const failed = await stage.newest(id, ({ attempts, status }) => {
      return attempts.length === 2 && status === 'queued';
    });
    expect(Date.parse(failed.nextAttemptAt) - clock.now()).to.be.between(4999, 6001);
    const [a, b] = stage.target.received;
    expect(b?.headers['webhook-id']).to.equal(a?.headers['webhook-id']);
    expect(b?.body).to.equal(a?.body);
    const waiting = await resend(id, first.id);
    expect([waiting.status, waiting.body.message]).to.equal([
      409,
      'The delivery is queued or in progress. Only finished deliveries can be resent',
    ]);
  });

  it('go again once where it is asked for twice at once', async () => {
    const { id } = await stage.webhook();
    await stage.fire();
    const { id: deliveryId } = await stage.newest(id, isSent);
    const held: ServerResponse[] = [];
    stage.target.answer = (response) => held.push(response);
    const replies = await Promise.all([1, 2, 3].map(() => resend(id, deliveryId)));
    expect(replies.map(({ status }) => status).sort()).to.equal([202, 409, 409]);
    const [response] = await untilMatches(async () => held, { length: 1 });
    response?.end('fine');
    await stage.newest(id, ({ attempts, status }) => attempts.length === 2 && status === 'sent');
    expect(stage.target.received.length).to.equal(2);
  });

  it('go again only to an enabled webhook that they were for', async () => {
    const { id } = await stage.webhook();
    await stage.fire();
    const { id: deliveryId } = await stage.newest(id, isSent);
    const other = await stage.webhook();
    expect((await resend(other.id, deliveryId)).status).to.equal(404);
    await stage.ask('PATCH', `/api/webhooks/${id}`, { enabled: false });
    const { status, body } = await resend(id, deliveryId);
    expect([status, body.message]).to.equal([
      409,
      'The webhook is disabled. Enable the webhook first',
    ]);
  });

  it('that wait end where the webhook is disabled, and go with one that is deleted', async () => {
    stage.answer(500);
    const { id } = await stage.webhook();
    await stage.fire();
    await stage.newest(id, ({ attempts, status }) => attempts.length === 1 && status === 'queued');
    const { body } = await stage.ask('PATCH', `/api/webhooks/${id}`, { enabled: false });
    expect(body.stats).to.include({ waiting: 0, failed: 1 });
    expect(body.disabledReason).to.be.null();
    const [ended] = await stage.deliveries(id);
    expect(ended).to.include({
      status: 'failed',
      error: 'The webhook is disabled. Enable the webhook, then resend this message',
      nextAttemptAt: null,
    });
    await stage.ask('DELETE', `/api/webhooks/${id}`);
    const { db } = stage.test.app.store;
    const left = await db
      .selectFrom('sendings')
      .select('id')
      .where('webhook_id', '=', id)
      .execute();
    const jobs = await db.selectFrom('jobs').select('ref').where('lane', '=', id).execute();
    expect([left, jobs]).to.equal([[], []]);
  });

  it('have a test, which says what came back', async () => {
    const { id } = await stage.webhook({ enabled: false });
    const test = () => stage.ask('POST', `/api/webhooks/${id}/test`);
    const { status, body } = await test();
    expect(status).to.equal(200);
    expect(body).to.equal({
      ...{ delivered: true, statusCode: 200, durationMs: 0, response: 'fine', error: null },
    });
    const [received] = stage.target.received;
    expect(JSON.parse(received?.body ?? '')).to.equal({
      type: 'webhook.test',
      timestamp: new Date(clock.now()).toISOString(),
      data: { webhookId: id, name: 'app' },
    });
    stage.answer(401);
    expect((await test()).body).to.equal({
      ...{ delivered: false, statusCode: 401, durationMs: 0, response: 'said 401' },
      error: '401 from the endpoint',
    });
    expect(await stage.deliveries(id)).to.equal([]);
    await stage.ask('PATCH', `/api/webhooks/${id}`, { url: 'http://127.0.0.1:9/' });
    expect((await test()).body).to.equal({
      ...{ delivered: false, statusCode: null, durationMs: 0, response: null },
      error: '127.0.0.1: the connection was refused',
    });
  });

  it('have one test at a time', async () => {
    const { id } = await stage.webhook();
    const answers: (() => void)[] = [];
    stage.target.answer = (response) => answers.push(() => response.end('late'));
    const test = () => stage.ask('POST', `/api/webhooks/${id}/test`);
    const first = test();
    await stage.target.got(1);
    expect((await test()).status).to.equal(409);
    for (const answered of answers) answered();
    expect((await first).body.response).to.equal('late');
    stage.target.answer = (response) => response.end('fine');
    expect((await test()).status).to.equal(200);
  });

  it('keep the beginning of what came back, whatever that is', async () => {
    const { id } = await stage.webhook();
    stage.target.answer = (response) =>
      response
        .writeHead(200)
        .end(Buffer.alloc(900_000, Buffer.from([0x00, 0xff, 0x61, 0xf0, 0x9f])));
    await stage.fire();
    const { attempts } = await stage.newest(id, isSent);
    expect(attempts[0].response.length).to.equal(1000);
    stage.target.answer = (response) => response.writeHead(200).end(Buffer.alloc(3_000_000));
    const { body } = await stage.ask('POST', `/api/webhooks/${id}/test`);
    expect(body).to.include({ delivered: true, response: '\0'.repeat(1000) });
  });
});
