import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, PASSWORD, startApp, type TestApp } from '../harness/app.js';
import { inside } from '../harness/inside.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE = 60_000;
const NOW = '2026-03-01T12:00:00.000Z';

describe('the vault', () => {
  let app: TestApp;
  let clock: FrozenClock;
  let token: string;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock, config: { tokenHours: 720 } });
    ({ token } = await app.register('ada'));
  });
  after(() => app.stop());

  const ask = (method: string, path: string, body?: unknown, as = token) =>
    app.call(method, `/api/vault${path}`, { token: as, ...(body !== undefined && { body }) });
  const store = async (name: string, more: object = {}): Promise<string> =>
    (await ask('POST', '', { name, value: 'first value', ...more })).body.id;
  const reveal = (id: string, password = PASSWORD) => ask('POST', `/${id}/reveal`, { password });

  it('shows all of a credential but its value', async () => {
    const given = {
      name: 'github-pat',
      type: 'api_key',
      description: 'for issues',
      tags: ['work'],
      allowedTools: ['http.request'],
      allowedHosts: ['api.github.com'],
      expiresAt: '2027-01-31T00:00:00.000Z',
    };
    const { status, body } = await ask('POST', '', { ...given, value: 'the value' });
    expect({ status, body }).to.equal({
      status: 201,
      body: {
        id: body.id,
        orgId: null,
        ...given,
        version: 1,
        rotateEveryDays: null,
        rotateDueAt: null,
        lastUsedAt: null,
        rotatedAt: null,
        createdAt: NOW,
        updatedAt: NOW,
      },
    });
    expect((await ask('GET', `/${body.id}`)).body).to.equal(body);
    expect((await ask('GET', '')).body).to.equal({ credentials: [body], nextCursor: null });
    expect((await ask('GET', '?type=password')).body.credentials).to.equal([]);
  });

  it('reveals the value to the password, and to nothing else', async () => {
    const id = await store('revealed');
    const { status, body } = await reveal(id);
    expect({ status, body }).to.equal({ status: 200, body: { value: 'first value' } });
    const wrong = await reveal(id, 'not the password');
    expect([wrong.status, wrong.body.code]).to.equal([401, 'wrong_password']);
    expect((await ask('POST', `/${id}/reveal`, {})).status).to.equal(400);
    const made = await app.call('POST', '/api/auth/tokens', { token, body: { name: 'ci' } });
    const by = await ask('POST', `/${id}/reveal`, { password: PASSWORD }, made.body.token);
    expect([by.status, by.body.code]).to.equal([403, 'personal_only']);
    const { body: log } = await app.call('GET', '/api/admin/audit?action=vault.reveal', { token });
    const entries = log.entries.map((one: { outcome: string; target: string }) => [
      one.target,
      one.outcome,
    ]);
    expect(entries).to.include([[id, 'ok']]);
    expect(JSON.stringify(log)).to.not.contain('first value');
  });

  it('refuses a name that is taken, and names what is wrong', async () => {
    await store('taken');
    const again = await ask('POST', '', { name: 'taken', value: 'x' });
    expect([again.status, again.body.code]).to.equal([409, 'name_taken']);
    const other = await store('other');
    expect((await ask('PATCH', `/${other}`, { name: 'taken' })).status).to.equal(409);
    for (const [body, path] of [
      [{ name: 'a b', value: 'x' }, 'name'],
      [{ name: 'a' }, 'value'],
      [{ name: 'a', value: '' }, 'value'],
      [{ name: 'a', value: 'x', type: 'spoon' }, 'type'],
      [{ name: 'a', value: 'x', allowedHosts: ['https://a/'] }, 'allowedHosts.0'],
      [{ name: 'a', value: 'x', version: 3 }, 'version'],
    ] as const) {
      const reply = await ask('POST', '', body);
      expect([reply.status, reply.body.details[0].path]).to.equal([400, path]);
    }
  });

  it('changes all but the value', async () => {
    const id = await store('changed');
    expect((await ask('PATCH', `/${id}`, { value: 'another' })).status).to.equal(400);
    const { body } = await ask('PATCH', `/${id}`, { name: 'renamed', tags: ['new'] });
    expect([body.name, body.tags, body.version]).to.equal(['renamed', ['new'], 1]);
    expect((await reveal(id)).body.value).to.equal('first value');
  });

  it('rotates to a value that is made and shown once, or to a given one that is not', async () => {
    const id = await store('rotated');
    const made = await ask('POST', `/${id}/rotate`, { generate: true });
    expect(made.body.value).to.match(/^[\w-]{43}$/);
    expect(made.body.credential.version).to.equal(2);
    expect((await reveal(id)).body.value).to.equal(made.body.value);
    const given = await ask('POST', `/${id}/rotate`, { value: 'third value' });
    expect(Object.keys(given.body)).to.equal(['credential']);
    expect((await reveal(id)).body.value).to.equal('third value');
  });

  it('renews what was to be good for a while, and what was over before it began', async () => {
    const ends = async (id: string) =>
      (await ask('POST', `/${id}/rotate`, { generate: true })).body.credential;
    const hour = new Date(clock.now() + 60 * MINUTE).toISOString();
    const good = await store('good', { expiresAt: hour });
    const over = await store('over', { expiresAt: '2020-01-01T00:00:00.000Z' });
    expect([(await ends(good)).expiresAt, (await ends(over)).expiresAt]).to.equal([hour, null]);
  });

  it('makes a version of each of several rotations at once', async () => {
    const id = await store('raced');
    const replies = await Promise.all(
      [1, 2, 3, 4].map((n) => ask('POST', `/${id}/rotate`, { value: `value ${n}` })),
    );
    const versions = replies.map(({ body }) => body.credential.version).sort();
    expect(versions).to.equal([2, 3, 4, 5]);
  });

  it('destroys what was before when the overlap has ended, at once where there is none', async () => {
    const id = await store('short');
    const versions = async () =>
      (
        await app.app.store.db
          .selectFrom('credential_versions')
          .select('version')
          .where('credential_id', '=', id)
          .execute()
      ).map(({ version }) => version);
    await ask('POST', `/${id}/rotate`, { generate: true, overlapMinutes: 10 });
    expect(await versions()).to.equal([1, 2]);
    clock.forward(10 * MINUTE);
    await inside(app.app).retention.prune();
    expect(await versions()).to.equal([2]);
    await ask('POST', `/${id}/rotate`, { generate: true, overlapMinutes: 0 });
    expect(await versions()).to.equal([3]);
  });

  it('keeps a credential that a hook uses', async () => {
    const id = await store('in-use');
    const hook = await app.call('POST', '/api/hooks', { token, body: hookWith(id) });
    const refused = await ask('DELETE', `/${id}`);
    expect([refused.status, refused.body.code]).to.equal([409, 'credential_in_use']);
    await app.call('DELETE', `/api/hooks/${hook.body.id}`, { token });
    expect((await ask('DELETE', `/${id}`)).status).to.equal(204);
    expect((await ask('GET', `/${id}`)).status).to.equal(404);
  });

  it('gives an admin who acts as another none of their values', async () => {
    const bob = await app.register('bob');
    const { body } = await ask('POST', '', { name: 'bobs', value: 'of bob' }, bob.token);
    const acting = await app.call('POST', `/api/admin/users/${bob.id}/impersonate`, {
      token,
      body: { reason: 'a test' },
    });
    for (const [path, sent] of [
      ['reveal', { password: PASSWORD }],
      ['rotate', {}],
    ] as const) {
      const reply = await ask('POST', `/${body.id}/${path}`, sent, acting.body.token);
      expect([reply.status, reply.body.code]).to.equal([403, 'personal_only']);
    }
  });
});

const hookWith = (webhookCredentialId: string) => ({
  name: 'by the vault',
  trigger: 'webhook',
  triggerConfig: { webhookPath: 'by-vault', webhookCredentialId },
  action: 'notify',
  actionConfig: { notifyMessage: 'It came' },
});
