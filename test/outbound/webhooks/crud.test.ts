import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { frozenClock, until } from '../../harness/app.js';
import { openStage, SECRET, type Stage } from './stage.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const NOW = '2026-03-01T12:00:00.000Z';
const spelt = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 'k').toString('base64')}`;

describe('outgoing webhooks', () => {
  let stage: Stage;
  let stranger: string;
  before(async () => {
    stage = await openStage(frozenClock(Date.parse(NOW)));
    stranger = (await stage.test.register('stranger')).token;
  });
  after(() => stage.stop());

  const create = (body: Record<string, unknown>) => stage.ask('POST', '/api/webhooks', body);
  const right = () => ({ name: 'app', url: stage.target.url, events: ['agent.completed'] });

  it('are made with a secret that is shown once', async () => {
    const { status, body } = await create(right());
    const { secret, ...shown } = body;
    expect(status).to.equal(201);
    expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(shown).to.equal({
      id: shown.id,
      orgId: null,
      name: 'app',
      url: stage.target.url,
      events: ['agent.completed'],
      enabled: true,
      secretSet: true,
      credentialId: null,
      oldSecretUntil: null,
      disabledReason: null,
      ratePerMinute: null,
      headerNames: [],
      stats: {
        ...{ waiting: 0, sent: 0, failed: 0 },
        ...{ lastDeliveryAt: null, lastStatus: null, failingSince: null },
      },
      createdAt: NOW,
      updatedAt: NOW,
    });
    const path = `/api/webhooks/${shown.id}`;
    expect((await stage.ask('GET', path)).body).to.equal(shown);
    expect((await stage.ask('GET', '/api/webhooks')).body).to.equal({
      webhooks: [shown],
      nextCursor: null,
    });
  });

  it('show a secret that was given in no reply', async () => {
    const made = await create({ ...right(), secret: SECRET });
    const { id } = made.body;
    const path = `/api/webhooks/${id}`;
    const replies = [
      made,
      await stage.ask('GET', path),
      await stage.ask('GET', '/api/webhooks'),
      await stage.ask('PATCH', path, { name: 'other' }),
      await stage.ask('POST', `${path}/test`),
      await stage.ask('GET', `${path}/deliveries`),
      await stage.ask('POST', `${path}/rotate-secret`, { secret: SECRET }),
    ];
    expect(replies.map(({ status }) => status)).to.equal([201, 200, 200, 200, 200, 200, 200]);
    const key = SECRET.slice(6);
    expect(replies.filter(({ text }) => text.includes(key))).to.equal([]);
  });

  it('are changed and deleted', async () => {
    const { body } = await create(right());
    const path = `/api/webhooks/${body.id}`;
    const changes = { name: 'new', events: ['*'], enabled: false };
    const changed = await stage.ask('PATCH', path, changes);
    expect(changed.status).to.equal(200);
    expect(changed.body).to.include(changes);
    const back = await stage.ask('PATCH', path, changed.body);
    expect(back.body).to.equal({ ...changed.body, updatedAt: back.body.updatedAt });
    expect((await stage.ask('DELETE', path)).status).to.equal(204);
    expect((await stage.ask('GET', path)).status).to.equal(404);
    expect((await stage.ask('DELETE', path)).status).to.equal(404);
  });

  const wrong: [string, Record<string, unknown>, string][] = [
    ['no name', { name: '' }, 'name'],
    ['another scheme', { url: 'ftp://example.org/' }, 'url'],
    ['a private address', { url: 'http://10.0.0.1/in' }, 'url'],
    ['a metadata service', { url: 'http://metadata.google.internal/' }, 'url'],
    ['credentials in the address', { url: 'https://a:b@example.org/' }, 'url'],
    ['no events', { events: [] }, 'events'],
    ['an unknown event', { events: ['agent.exploded'] }, 'events.0'],
    ['the same event twice', { events: ['*', '*'] }, 'events.1'],
    ['a secret without its prefix', { secret: SECRET.slice(6) }, 'secret'],
    ['a secret that is not base64', { secret: 'whsec_!!!!' }, 'secret'],
    ['a short secret', { secret: spelt(23) }, 'secret'],
    ['a long secret', { secret: spelt(65) }, 'secret'],
    ['a credential that is none', { credentialId: 'credential_0' }, 'credentialId'],
    ['a secret and a credential', { secret: SECRET, credentialId: 'c' }, 'credentialId'],
    ['an unknown key', { role: 'admin' }, 'role'],
  ];
  for (const [what, given, field] of wrong) {
    it(`are refused with ${what}, which is named`, async () => {
      const { status, body, text } = await create({ ...right(), ...given });
      expect(status).to.equal(400);
      expect(body.details.map(({ path }: { path: string }) => path)).to.equal([field]);
      if (typeof given.secret === 'string') expect(text).to.not.include(given.secret);
    });
  }

  it('name the setting where their address is refused', async () => {
    const { body } = await create({ ...right(), url: 'http://10.0.0.1/in' });
    expect(body.message).to.include('ADJUTANT_EGRESS_ALLOW');
    const made = await create(right());
    const changed = await stage.ask('PATCH', `/api/webhooks/${made.body.id}`, {
      url: 'http://[::1]/',
    });
    expect([changed.status, changed.body.details[0].path]).to.equal([400, 'url']);
  });

  it('take secrets of 24 to 64 bytes', async () => {
    for (const bytes of [24, 64]) {
      expect((await create({ ...right(), secret: spelt(bytes) })).status).to.equal(201);
    }
  });

  it('are at most 50 of one user’s, also where they come at once', async () => {
    const { token } = await stage.test.register('collector');
    const replies = await Promise.all(
      Array.from({ length: 60 }, () =>
        stage.test.call('POST', '/api/webhooks', { token, body: right() }),
      ),
    );
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).to.equal(50);
    expect(statuses.filter((status) => status === 409).length).to.equal(10);
  });

  it('keep both of two changes that come at once', async () => {
    const { id } = await stage.webhook();
    const path = `/api/webhooks/${id}`;
    await Promise.all([
      stage.ask('PATCH', path, { name: 'changed' }),
      stage.ask('PATCH', path, { events: ['hook.failed'] }),
    ]);
    const { body } = await stage.ask('GET', path);
    expect(body).to.include({ name: 'changed', events: ['hook.failed'] });
    await stage.ask('DELETE', path);
  });

  it('are hidden from a stranger, and need a token', async () => {
    const { id } = await stage.webhook({ enabled: false });
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'mine' }],
      ['DELETE', ''],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/sending_0/resend'],
      ['POST', '/test'],
      ['POST', '/rotate-secret', {}],
    ];
    for (const [method, tail, body] of calls) {
      const path = `/api/webhooks/${id}${tail}`;
      const theirs = await stage.test.call(method, path, { token: stranger, body });
      expect(theirs.status, `${method} ${path}`).to.equal(404);
      expect((await stage.test.call(method, path, { body })).status, path).to.equal(401);
    }
    const { body } = await stage.test.call('GET', '/api/webhooks', { token: stranger });
    expect(body).to.equal({ webhooks: [], nextCursor: null });
  });

  it('leave the receivers of inbound webhooks where they were', async () => {
    await stage.fire();
    const answer = await stage.test.call('POST', '/api/webhooks/nowhere', { body: {} });
    expect(answer.status).to.equal(404);
    expect(answer.body.message).to.not.include('outgoing');
    await until(
      () => stage.ask('GET', '/api/notifications'),
      ({ body }) => body.notifications.length > 0,
    );
  });
});
