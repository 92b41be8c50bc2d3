import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

const ID_HEADERS = [
  'X-GitHub-Delivery',
  'X-Gitea-Delivery',
  'X-Gitlab-Event-UUID',
  'X-Gitlab-Webhook-UUID',
  'webhook-id',
  'svix-id',
  'Idempotency-Key',
];

describe('a repeated delivery', () => {
  it('is answered with the first one’s id and fires nothing, whichever header names it', async () => {
    for (const name of ID_HEADERS) {
      const path = `named-${name}`;
      const id = await desk.hook(onPath(path));
      const send = () => desk.deliver(path, '{"n":1}', { headers: { [name]: 'd-1' } });
      const first = await send();
      const again = await send();
      expect([first.status, again.status]).to.equal([202, 200]);
      expect(again.body).to.equal({
        received: true,
        duplicate: true,
        deliveryId: first.body.deliveryId,
      });
      expect(await desk.ended(id)).to.have.length(1);
    }
  });

  it('runs once when it comes 50 times at the same moment', async () => {
    const id = await desk.hook(onPath('storm'));
    const send = () => desk.deliver('storm', '{"n":1}', { headers: { 'webhook-id': 'd-1' } });
    const replies = await Promise.all(Array.from({ length: 50 }, send));
    const accepted = replies.filter(({ status }) => status === 202);
    expect(accepted).to.have.length(1);
    const deliveryId = accepted[0]?.body.deliveryId;
    const rest = replies.filter(({ status }) => status !== 202).map(({ body }) => body);
    expect(rest).to.equal(Array(49).fill({ received: true, duplicate: true, deliveryId }));
    expect(await desk.ended(id)).to.have.length(1);
  });

  it('runs with another signed body, and without an id each time', async () => {
    const id = await desk.hook(onPath('others'));
    const headers = { 'x-github-delivery': 'd-1' };
    for (const body of ['{"n":1}', '{"n":2}', '{"n":1 }']) {
      expect((await desk.deliver('others', body, { headers })).status).to.equal(202);
    }
    for (const _time of [1, 2]) {
      expect((await desk.deliver('others', '{"n":1}')).status).to.equal(202);
    }
    const blank = { headers: { 'x-github-delivery': '  ' } };
    expect((await desk.deliver('others', '{"n":1}', blank)).status).to.equal(202);
    expect(await desk.ended(id, 6)).to.have.length(6);
  });

  it('is claimed only by a delivery that verified', async () => {
    const id = await desk.hook(onPath('claimed'));
    const headers = { 'x-github-delivery': 'd-1' };
    const forged = await desk.deliver('claimed', '{"n":1}', { headers, secret: 'wrong' });
    expect(forged.status).to.equal(401);
    expect((await desk.deliver('claimed', '{"n":1}', { headers })).status).to.equal(202);
    expect(await desk.ended(id)).to.have.length(1);
  });

  it('is looked for per hook: one that did not have it yet fires', async () => {
    const first = await desk.hook(onPath('late'));
    const send = () => desk.deliver('late', '{"n":1}', { headers: { 'webhook-id': 'd-1' } });
    await send();
    const second = await desk.hook(onPath('late'));
    const { status, body } = await send();
    expect([status, body.hooks]).to.equal([202, 1]);
    expect((await desk.ended(second)).map(({ id }) => id)).to.equal(body.executions);
    expect(await desk.ended(first)).to.have.length(1);
  });

  it('goes by Idempotency-Key where GitLab sent it', async () => {
    const id = await desk.hook(onPath('gitlab'));
    const send = (key: string, uuid: string) =>
      desk.deliver('gitlab', '{"n":1}', {
        headers: {
          'x-gitlab-event': 'Push Hook',
          'x-gitlab-event-uuid': uuid,
          'idempotency-key': key,
        },
      });
    const statuses = [];
    for (const [key, uuid] of [
      ['k-1', 'u-1'],
      ['k-2', 'u-1'],
      ['k-1', 'u-2'],
    ] as const) {
      statuses.push((await send(key, uuid)).status);
    }
    expect(statuses).to.equal([202, 202, 200]);
    expect(await desk.ended(id, 2)).to.have.length(2);
  });

  it('runs again where its run failed before any effect began', async () => {
    const id = await desk.hook({
      ...onPath('failed'),
      action: 'execute_tool',
      actionConfig: { toolId: 'time', toolAction: 'never' },
    });
    const send = () => desk.deliver('failed', '{"n":1}', { headers: { 'webhook-id': 'd-1' } });
    const first = await send();
    const [failed] = await desk.ended(id);
    expect([failed.status, failed.error]).to.equal([
      'error',
      'Unknown tool: time.never. Correct toolId and toolAction',
    ]);

    await desk.ask('PUT', `/api/hooks/${id}`, {
      actionConfig: { toolId: 'time', toolAction: 'now' },
    });
    const again = await send();
    expect([again.status, again.body.hooks]).to.equal([202, 1]);
    expect(again.body.deliveryId).to.not.equal(first.body.deliveryId);
    expect((await desk.ended(id, 2)).map(({ status }) => status)).to.equal(['success', 'error']);

    const third = await send();
    expect(third.body).to.equal({
      received: true,
      duplicate: true,
      deliveryId: again.body.deliveryId,
    });
  });
});
