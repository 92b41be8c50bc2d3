import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { startApp, type TestApp, until, untilAtLeast, untilMatches } from '../harness/app.js';
import { askApproval } from '../harness/approval.js';
import {
  type FakePushService,
  type PushBrowser,
  startPushService,
} from '../harness/pushservice.js';

export const lab = Lab.script();
const { after, afterEach, before, describe, it } = lab;

const PATH = '/api/push/subscriptions';

describe('pushes', () => {
  let app: TestApp;
  let service: FakePushService;
  let ada: { id: string; token: string };
  let bob: { id: string; token: string };

  before(async () => {
    service = await startPushService();
    const egressAllow = [new URL(service.origin).host];
    app = await startApp({ config: { egressAllow, registration: 'open' } });
    ada = await app.register('ada');
    bob = await app.register('bob');
  });

  after(async () => {
    await app.stop();
    await service.stop();
  });

  afterEach(async () => {
    for (const { token } of [ada, bob]) {
      for (const { id } of await listed(token))
        await app.call('DELETE', `${PATH}/${id}`, { token });
    }
    service.pushes.length = 0;
    expect(service.refused).to.equal([]);
  });

  const listed = async (token: string): Promise<{ id: string; name: string; service: string }[]> =>
    (await app.call('GET', `${PATH}?limit=200`, { token })).body.subscriptions;
  const subscribe = (token: string, { subscription }: PushBrowser, more: object = {}) =>
    app.call('POST', PATH, { token, body: { ...subscription, ...more } });
  const arrived = () => untilAtLeast(async () => service.pushes, 1);

  it('say the kind and the id of a notice, encrypted for the browser and signed', async () => {
    const browser = service.subscribe();
    const { status, body } = await subscribe(ada.token, browser, { name: 'phone' });
    expect(status).to.equal(201);
    expect(body).to.include({ name: 'phone', service: new URL(service.origin).host });
    const asked = await askApproval(app, ada.id, { url: 'http://127.0.0.1:9/secret-of-the-call' });
    const [push] = await arrived();
    const { notifications } = (
      await app.call('GET', '/api/notifications?kind=approval_requested', { token: ada.token })
    ).body;
    const text = JSON.parse(push?.text ?? '');
    const [{ id }] = notifications;
    expect(text).to.equal({ kind: 'approval_requested', id, link: `/approvals/${asked}` });
    expect(push?.headers).to.include({ ttl: '900', urgency: 'high' });
    const { body: key } = await app.call('GET', '/api/push/key', { token: ada.token });
    expect(push?.sender).to.equal(key.publicKey);
  });

  it('keep the key pair over a restart', async () => {
    const key = async () =>
      (await app.call('GET', '/api/push/key', { token: ada.token })).body.publicKey;
    const first = await key();
    expect(first).to.match(/^B[\w-]{86}$/);
    await app.restart();
    expect(await key()).to.equal(first);
  });

  for (const status of [404, 410]) {
    it(`end where the service replies ${status}`, async () => {
      const browser = service.subscribe();
      await subscribe(ada.token, browser);
      service.replyTo(browser, { status });
      await askApproval(app, ada.id);
      await untilMatches(() => listed(ada.token), { length: 0 });
    });

    it(`say it where a test ends them by ${status}`, async () => {
      const browser = service.subscribe();
      const { body } = await subscribe(ada.token, browser);
      service.replyTo(browser, { status });
      const tested = await app.call('POST', `/api/channels/${body.id}/test`, { token: ada.token });
      expect([tested.status, tested.body.code]).to.equal([404, 'channel_gone']);
      expect(tested.body.message).to.include('its push service no longer knows it');
    });
  }

  it('are tried again where the service is in trouble', async () => {
    const browser = service.subscribe();
    const { body } = await subscribe(ada.token, browser);
    service.replyTo(browser, { status: 503 });
    await askApproval(app, ada.id);
    const messages = async () =>
      (await app.call('GET', `/api/admin/outbox?channelId=${body.id}`, { token: ada.token })).body
        .sendings;
    await until(messages, ([message]) => message?.attempts === 1 && message.status === 'queued');
    expect(await listed(ada.token)).to.have.length(1);
  });

  it('are for the user who subscribed last in a browser', async () => {
    const browser = service.subscribe();
    await subscribe(ada.token, browser);
    await subscribe(bob.token, browser);
    expect([(await listed(ada.token)).length, (await listed(bob.token)).length]).to.equal([0, 1]);
    await askApproval(app, ada.id);
    const first = await askApproval(app, bob.id);
    await arrived();
    expect(service.pushes).to.have.length(1);
    expect(first).to.match(/^approval_/);
  });

  it('go to ten browsers at most, and each is there once', async () => {
    const browsers = Array.from({ length: 11 }, () => service.subscribe());
    const [first, ...rest] = browsers;
    for (const browser of browsers.slice(0, 10)) await subscribe(ada.token, browser);
    const last = rest.at(-1);
    if (!first || !last) throw new Error('There are eleven');
    const refused = await subscribe(ada.token, last);
    expect([refused.status, refused.body.code]).to.equal([409, 'too_many_subscriptions']);
    expect((await subscribe(ada.token, first)).status).to.equal(201);
    const { subscription } = first;
    const again = { subscription: { ...subscription, endpoint: `${subscription.endpoint}#again` } };
    expect((await subscribe(ada.token, { ...first, ...again })).status).to.equal(201);
    expect(await listed(ada.token)).to.have.length(10);
  });

  it('name the field of what cannot be a subscription', async () => {
    const { subscription } = service.subscribe();
    const faults = async (body: object) => {
      const reply = await app.call('POST', PATH, { token: ada.token, body });
      return [reply.status, ...reply.body.details.map(({ path }: { path: string }) => path)];
    };
    const { endpoint, keys } = subscription;
    expect(await faults({ endpoint: 'http://push.example.org/x', keys })).to.equal([
      400,
      'endpoint',
    ]);
    expect(await faults({ endpoint: 'https://192.168.1.1/x', keys })).to.equal([400, 'endpoint']);
    expect(await faults({ endpoint: 'https://169.254.1.1/x', keys })).to.equal([400, 'endpoint']);
    expect(await faults({ endpoint: 'nonsense', keys })).to.equal([400, 'endpoint']);
    const p256dh = `B${'A'.repeat(86)}`;
    expect(await faults({ endpoint, keys: { ...keys, p256dh } })).to.equal([400, 'keys.p256dh']);
    expect(await faults({ endpoint, keys: { ...keys, auth: 'abc' } })).to.equal([400, 'keys.auth']);
    expect(await listed(ada.token)).to.equal([]);
  });

  it('are one’s own', async () => {
    const { body } = await subscribe(ada.token, service.subscribe());
    const path = `${PATH}/${body.id}`;
    expect((await app.call('DELETE', path, { token: bob.token })).status).to.equal(404);
    expect(await listed(bob.token)).to.equal([]);
    const { body: made } = await app.call('POST', '/api/auth/tokens', {
      token: ada.token,
      body: { name: 'script' },
    });
    expect((await subscribe(made.token, service.subscribe())).status).to.equal(403);
    expect((await app.call('DELETE', path, { token: ada.token })).status).to.equal(204);
  });

  it('are a channel whose address is not shown', async () => {
    const browser = service.subscribe();
    const { body } = await subscribe(ada.token, browser, { name: 'phone' });
    const { text, body: shown } = await app.call('GET', '/api/channels', { token: ada.token });
    expect(shown.channels).to.have.length(1);
    expect(shown.channels[0]).to.include({ id: body.id, kind: 'push', name: 'phone' });
    expect(text).to.not.include(new URL(browser.subscription.endpoint).pathname);
    const tested = await app.call('POST', `/api/channels/${body.id}/test`, { token: ada.token });
    expect(tested.body.status).to.equal('sent');
    expect(JSON.parse(service.pushes[0]?.text ?? '').kind).to.equal('test');
  });
});
