import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { sign } from '../../harness/app.js';
import { type Desk, onPath, openDesk, SECRET } from '../../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

let desk: Desk;
before(async () => {
  desk = await openDesk();
});
after(() => desk.test.stop());

const send = (id: string, headers: Record<string, string>, body = '{"n":1}') =>
  desk.test.call('POST', `/api/hooks/incoming/${id}`, { body, headers });

describe('incoming', () => {
  it('takes the secret in each of its three headers', async () => {
    const id = await desk.hook(onPath('three'));
    const headers: Record<string, string>[] = [
      { authorization: 'Bearer three-headers' },
      { 'x-webhook-secret': 'three-headers' },
      { 'x-gitlab-token': 'three-headers' },
      { authorization: 'Bearer of-some-proxy', 'x-gitlab-token': 'three-headers' },
    ];
    await desk.ask('PUT', `/api/hooks/${id}`, onPath('three', 'three-headers'));
    for (const each of headers) expect((await send(id, each)).status).to.equal(202);
    expect(await desk.ended(id, 4)).to.have.length(4);
  });

  it('takes a secret with spaces and letters of any script', async () => {
    const secret = 'grüße an alle 🔑';
    const id = await desk.hook(onPath('script', secret));
    const header = Buffer.from(secret).toString('latin1');
    expect((await send(id, { 'x-webhook-secret': header })).status).to.equal(202);
  });

  it('runs that hook alone, with its path, and keeps no secret', async () => {
    const [id, other] = [await desk.hook(onPath('alone')), await desk.hook(onPath('alone'))];
    const { body } = await send(id, {
      'x-webhook-secret': SECRET,
      'x-gitlab-event': 'Push Hook',
      'x-custom': 'kept',
    });
    const [run] = await desk.ended(id);
    expect(body.executions).to.equal([run.id]);
    const { headers, ...webhook } = run.triggerContext.webhook;
    expect(webhook).to.equal({ path: 'alone', method: 'POST', body: { n: 1 } });
    expect(run.triggerContext.event).to.equal('Push Hook');
    expect(headers['x-custom']).to.equal('kept');
    expect(JSON.stringify(run)).to.not.contain(SECRET);
    expect(await desk.runs(other)).to.equal([]);
  });

  it('answers 401 without the right secret, a signature is none', async () => {
    const id = await desk.hook(onPath('refused'));
    const bare = await desk.hook({ triggerConfig: { webhookPath: 'bare' } });
    const headers: Record<string, string>[] = [
      {},
      { 'x-webhook-secret': '' },
      { 'x-webhook-secret': 'wrong' },
      { 'x-webhook-secret': `${SECRET}x` },
      { 'x-webhook-secret': SECRET.slice(1) },
      { 'x-hub-signature-256': sign(SECRET, '{"n":1}') },
      { authorization: `Basic ${Buffer.from(SECRET).toString('base64')}` },
      { authorization: 'Bearer' },
      { authorization: `Bearer ${desk.owner.token}` },
    ];
    for (const each of headers) {
      expect((await send(id, each)).status).to.equal(401);
      expect((await send(bare, each)).status).to.equal(401);
    }
    expect(await desk.runs(id)).to.equal([]);
  });

  it('takes what the sender signs and nothing else, where one is described', async () => {
    const of = (path: string, secret: string, verify: string) =>
      desk.hook({ triggerConfig: { webhookPath: path, webhookSecret: secret, verify } });
    const key = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a';
    const ids = { [await of('by-key', key, 'discord')]: key };
    ids[await of('by-gitea', SECRET, 'gitea')] = SECRET;
    for (const [id, secret] of Object.entries(ids)) {
      for (const name of ['x-webhook-secret', 'x-gitlab-token', 'authorization']) {
        const value = name === 'authorization' ? `Bearer ${secret}` : secret;
        expect((await send(id, { [name]: value })).status).to.equal(401);
      }
    }
    const [, gitea = ''] = Object.keys(ids);
    const signature = sign(SECRET, '{"n":1}').replace('sha256=', '');
    expect((await send(gitea, { 'x-gitea-signature': signature })).status).to.equal(202);
  });

  it('refuses the secret in the query, and says nothing of it', async () => {
    const id = await desk.hook(onPath('query', 'in-the-query'));
    for (const query of [
      'secret=in-the-query',
      'token=in-the-query',
      'x-webhook-secret=in-the-query',
    ]) {
      const { status, text } = await send(`${id}?${query}`, {});
      expect(status).to.equal(400);
      expect(text).to.not.contain('in-the-query');
    }
    expect(await desk.runs(id)).to.equal([]);
  });

  it('answers 404 for an unknown hook, and 401 for one that nothing posts to', async () => {
    const secret = { 'x-webhook-secret': SECRET };
    for (const id of ['hook_00000000000000000000000000', '__proto__', 'x'.repeat(2048)]) {
      expect((await send(id, secret)).status).to.equal(404);
    }
    const id = await desk.hook({ trigger: 'schedule', triggerConfig: { cron: '0 9 * * *' } });
    expect((await send(id, secret)).status).to.equal(401);
  });

  it('answers as the other receiver: repeats, disabled hooks, bodies, types', async () => {
    const id = await desk.hook(onPath('alike'));
    const secret = { 'x-webhook-secret': SECRET };
    const named = { ...secret, 'idempotency-key': 'd-1' };
    const first = await send(id, named);
    expect((await send(id, named)).body).to.equal({
      received: true,
      duplicate: true,
      deliveryId: first.body.deliveryId,
    });
    expect((await send(id, secret, 'no JSON')).status).to.equal(400);
    expect((await send(id, { ...secret, 'content-type': 'text/plain' })).status).to.equal(415);
    expect((await send(id, secret, `"${'x'.repeat(4 * 1024 * 1024)}"`)).status).to.equal(413);
    await desk.ask('POST', `/api/hooks/${id}/disable`);
    expect((await send(id, secret)).body).to.equal({ received: true, accepted: false, hooks: 0 });
  });
});
