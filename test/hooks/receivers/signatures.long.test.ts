import { createHmac } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign } from '../../harness/app.js';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

const KEY = 'a signing key of some length';
const seconds = () => Math.floor(Date.now() / 1000);
const mac = (text: string) => createHmac('sha256', KEY).update(text);

const standard = (id: string, body: string, prefix = 'webhook'): Record<string, string> => {
  const at = seconds();
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(at),
    [`${prefix}-signature`]: `v1,${mac(`${id}.${at}.${body}`).digest('base64')}`,
  };
};
const stripe = (body: string, at = seconds()): Record<string, string> => ({
  'stripe-signature': `t=${at},v1=${mac(`${at}.${body}`).digest('hex')}`,
});
const send = (path: string, body: string, headers: Record<string, string>) =>
  desk.test.call('POST', `/api/webhooks/${path}`, { body, headers });
const statusesOf = async (path: string, body: string, each: Record<string, string>[]) => {
  const statuses = [];
  for (const headers of each) statuses.push((await send(path, body, headers)).status);
  return statuses;
};

describe('the id of a repeat', () => {
  it('is the id that Stripe signed in the body', async () => {
    const id = await desk.hook(onPath('stripe', KEY));
    const body = '{"id":"evt_1","type":"charge.refunded","n":1}';
    const recorded = stripe(body, seconds() - 60);
    const each = [recorded, recorded, recorded, { ...recorded, 'x-github-delivery': 'a2' }];
    expect(await statusesOf('stripe', body, each)).to.equal([202, 200, 200, 200]);
    // Stripe signs each of its own retries anew.
    expect(await statusesOf('stripe', body, [stripe(body)])).to.equal([200]);
    const other = '{"id":"evt_2","type":"charge.refunded","n":1}';
    expect(await statusesOf('stripe', other, [stripe(other)])).to.equal([202]);
    const runs = await desk.ended(id, 2);
    expect(runs.map(({ triggerContext }) => triggerContext.event)).to.equal([
      'charge.refunded',
      'charge.refunded',
    ]);
  });

  it('is no unsigned header’s where Stripe signs a body without an id', async () => {
    const bodies = ['{"id":5}', '{"n":1}', '{"id":"  "}', '{"id":null}', '[{"id":"evt_9"}]'];
    const id = await desk.hook(onPath('nameless', KEY));
    const at = seconds();
    for (const body of [...bodies, `{"n":"${'x'.repeat(200_000)}"}`]) {
      const recorded = stripe(body, at);
      const each = [
        { ...recorded, 'idempotency-key': '1' },
        { ...recorded, 'idempotency-key': '2' },
        { ...recorded, 'x-github-delivery': '3' },
        recorded,
      ];
      const said = body.slice(0, 40);
      expect([said, await statusesOf('nameless', body, each)]).to.equal([
        said,
        [202, 200, 200, 200],
      ]);
      // The sender may well have the same to say again.
      expect(await statusesOf('nameless', body, [stripe(body, at + 1)])).to.equal([202]);
    }
    expect(await desk.ended(id, 12)).to.have.length(12);
  });

  it('is the id header that Standard Webhooks and Svix sign, before any other', async () => {
    const body = '{"type":"invoice.paid","n":1}';
    for (const prefix of ['webhook', 'svix']) {
      const id = await desk.hook(onPath(prefix, KEY));
      const recorded = standard('msg_1', body, prefix);
      const each = [
        { ...recorded, 'x-github-delivery': 'a1' },
        { ...recorded, 'x-github-delivery': 'a2' },
        { ...recorded, 'idempotency-key': 'a3', 'x-gitlab-event': 'Push Hook' },
        standard('msg_2', body, prefix),
      ];
      expect(await statusesOf(prefix, body, each)).to.equal([202, 200, 200, 202]);
      const [, first] = await desk.ended(id, 2);
      expect(first.triggerContext.event).to.equal('invoice.paid');
    }
  });

  it('is an unsigned header’s where the scheme signs none', async () => {
    const id = await desk.hook(onPath('github', KEY));
    const body = '{"id":"evt_1","type":"in the body","n":1}';
    const signed = { 'x-hub-signature-256': sign(KEY, body), 'x-github-event': 'push' };
    const each = ['a1', 'a1', 'a2'].map((one) => ({ ...signed, 'x-github-delivery': one }));
    expect(await statusesOf('github', body, each)).to.equal([202, 200, 202]);
    const runs = await desk.ended(id, 2);
    expect(runs.map(({ triggerContext }) => triggerContext.event)).to.equal(['push', 'push']);
  });

  it('is no other hook’s: each is named by what its own secret signed', async () => {
    const victim = await desk.hook(onPath('shared', KEY));
    const planted = await desk.hook(onPath('shared', 'planted'));
    const body = '{"id":"evt_1","type":"charge.refunded","n":1}';
    const recorded = stripe(body);
    const at = seconds();
    const forged = (id: string) => ({
      ...recorded,
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${createHmac('sha256', 'planted').update(`${id}.${at}.${body}`).digest('base64')}`,
    });
    const each = [recorded, forged('x1'), forged('x2')];
    expect(await statusesOf('shared', body, each)).to.equal([202, 202, 202]);
    expect(await desk.ended(planted, 2)).to.have.length(2);
    expect(await desk.ended(victim)).to.have.length(1);
  });
});

describe('the event’s name', () => {
  it('is a header’s where the signed body has no type', async () => {
    const id = await desk.hook(onPath('typeless', KEY));
    const body = '{"object_kind":"push"}';
    const headers = { ...standard('msg_1', body), 'x-gitlab-event': 'Push Hook' };
    expect(await statusesOf('typeless', body, [headers])).to.equal([202]);
    const [run] = await desk.ended(id);
    expect(run.triggerContext.event).to.equal('Push Hook');
  });
});
