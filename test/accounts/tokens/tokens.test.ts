import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import {
  type FrozenClock,
  frozenClock,
  PASSWORD,
  startApp,
  type TestApp,
} from '../../harness/app.js';
import { makeToken } from '../../harness/token.js';
import { Client } from '../../http/socket/harness.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const DAY_MS = 24 * 3600 * 1000;

describe('personal access tokens', () => {
  let app: TestApp;
  let clock: FrozenClock;

  before(async () => {
    clock = frozenClock();
    app = await startApp({ clock });
    await app.register('first');
  });
  after(() => app.stop());

  const create = (token: string | undefined, body: unknown) =>
    app.call('POST', '/api/auth/tokens', { token, body });
  const list = async (token: string) => {
    const { body } = await app.call('GET', '/api/auth/tokens', { token });
    return body.tokens;
  };
  const remove = (token: string, id: string) =>
    app.call('DELETE', `/api/auth/tokens/${id}`, { token });
  const me = async (token: string) => (await app.call('GET', '/api/auth/me', { token })).status;

  it('are made for ninety days, and the token is shown that once', async () => {
    const { id, token } = await app.register('ada');
    const { status, body } = await create(token, { name: 'ci' });
    const { token: made, ...view } = body;
    expect({ status, ...view }).to.equal({
      status: 201,
      id: view.id,
      name: 'ci',
      scopes: null,
      createdAt: '2026-03-01T12:00:00.000Z',
      expiresAt: '2026-05-30T12:00:00.000Z',
      lastUsedAt: null,
    });
    expect(await list(token)).to.equal([view]);
    const own = await app.call('GET', '/api/auth/me', { token: made });
    expect([own.status, own.body.id]).to.equal([200, id]);
  });

  it('begin with adj_, and with or without it are one token', async () => {
    const { token } = await app.register('adele');
    const { body } = await create(token, { name: 'ci' });
    expect(body.token).to.match(/^adj_eyJ/);
    const bare = body.token.slice('adj_'.length);
    expect([await me(body.token), await me(bare)]).to.equal([200, 200]);
    expect([token.startsWith('eyJ'), await me(`adj_${token}`)]).to.equal([true, 401]);
    await remove(token, body.id);
    expect([await me(body.token), await me(bare)]).to.equal([401, 401]);
  });

  it('keep each scope once, in order, and go without the one that is missing', async () => {
    const { token } = await app.register('bob');
    const scopes = ['hooks:read', 'agents:write', 'hooks:read'];
    const { body } = await create(token, { name: 'ci', scopes });
    expect(body.scopes).to.equal(['agents:write', 'hooks:read']);
    const hooks = await app.call('GET', '/api/hooks', { token: body.token });
    expect([hooks.status, hooks.body.hooks]).to.equal([200, []]);
    const refused = await app.call('GET', '/api/agents', { token: body.token });
    expect({ ...refused.body, requestId: '' }).to.equal({
      statusCode: 403,
      error: 'Forbidden',
      message: 'The token lacks the scope agents:read',
      code: 'scope_missing',
      requestId: '',
    });
  });

  it('tell when they were used, to the minute', async () => {
    const { token } = await app.register('carl');
    const made = await makeToken(app, token);
    const used = async () => (await list(token))[0].lastUsedAt;
    await me(made.token);
    expect(await used()).to.equal('2026-03-01T12:00:00.000Z');
    clock.forward(59_999);
    await me(made.token);
    expect(await used()).to.equal('2026-03-01T12:00:00.000Z');
    clock.forward(1);
    await me(made.token);
    expect(await used()).to.equal('2026-03-01T12:01:00.000Z');
  });

  it('are good where that cannot be noted', async () => {
    const { token } = await app.register('cora');
    const made = [];
    for (let n = 0; n < 100; n++) made.push(await makeToken(app, token));
    const limit = (pages: number) =>
      app.app.store.transact([{ sql: `PRAGMA max_page_count = ${pages}`, parameters: [] }]);
    await limit(1);
    expect(new Set(await Promise.all(made.map((one) => me(one.token))))).to.equal(new Set([200]));
    await limit(1_000_000);
    const rows = (await app.call('GET', '/api/auth/tokens?limit=200', { token })).body.tokens;
    const unnoted = rows.filter((row: { lastUsedAt: string | null }) => row.lastUsedAt === null);
    expect(unnoted.length > 0).to.be.true();
  });

  it('refuse what is no scope, and name it', async () => {
    const { token } = await app.register('dora');
    const { status, body } = await create(token, {
      name: 'x',
      scopes: ['hooks:read', 'cats:read'],
    });
    expect({ status, code: body.code, details: body.details }).to.equal({
      status: 400,
      code: 'unknown_scope',
      details: [{ path: 'scopes.1', message: 'is not a known scope: "cats:read"' }],
    });
    const wrong: unknown[] = [];
    for (const scope of ['auth:read', 'auth:write', '__proto__:read', 'hooks:READ', 'hooks', '*']) {
      const reply = await create(token, { name: 'x', scopes: [scope] });
      if (reply.status !== 400 || reply.body.details[0].path !== 'scopes.0') wrong.push(scope);
    }
    expect(wrong).to.equal([]);
    expect(await list(token)).to.equal([]);
  });

  it('refuse other bad input by its field', async () => {
    const { token } = await app.register('emil');
    const bodies = {
      name: [{}, { name: '' }, { name: 'x'.repeat(101) }],
      scopes: [
        { name: 'x', scopes: [] },
        { name: 'x', scopes: 'hooks:read' },
      ],
      expiresInDays: [0, 367, 1.5, '7', null].map((expiresInDays) => ({
        name: 'x',
        expiresInDays,
      })),
      token: [{ name: 'x', token: 'mine' }],
    };
    for (const [field, wrong] of Object.entries(bodies)) {
      for (const body of wrong) {
        const reply = await create(token, body);
        expect([reply.status, reply.body.details?.[0].path]).to.equal([400, field]);
      }
    }
  });

  it('need the password later than ten minutes after login', async () => {
    const { token } = await app.register('fritz');
    clock.forward(11 * 60 * 1000);
    const late = await create(token, { name: 'ci' });
    expect([late.status, late.body.code]).to.equal([403, 'password_required']);
    const wrong = await create(token, { name: 'ci', password: 'not the password' });
    expect([wrong.status, wrong.body.code]).to.equal([401, 'wrong_password']);
    const right = await create(token, { name: 'ci', password: PASSWORD });
    expect(right.status).to.equal(201);
    expect(right.text).to.not.contain(PASSWORD);
  });

  it('tell their owner that they were made', async () => {
    const { token } = await app.register('gerd');
    await makeToken(app, token);
    const { body } = await app.call('GET', '/api/notifications', { token });
    expect(body.notifications.map(({ kind }: { kind: string }) => kind)).to.equal([
      'token.created',
    ]);
  });

  it('are a hundred at most, also when many are made at once, and over ones do not count', async () => {
    const { token } = await app.register('hugo');
    await makeToken(app, token, { expiresInDays: 1 });
    const replies = await Promise.all(
      Array.from({ length: 110 }, () => create(token, { name: 'many', expiresInDays: 30 })),
    );
    expect(replies.filter(({ status }) => status === 201).length).to.equal(99);
    const refused = replies.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.code)).to.equal(Array(11).fill('too_many_tokens'));
    clock.forward(2 * DAY_MS);
    const login = { username: 'hugo', password: PASSWORD };
    const again = (await app.call('POST', '/api/auth/login', { body: login })).body.token;
    expect((await create(again, { name: 'one more' })).status).to.equal(201);
  });

  it('are listed page by page, the newest first', async () => {
    const { token } = await app.register('ida');
    const made = [];
    for (let n = 0; n < 3; n++) made.unshift((await makeToken(app, token)).id);
    const page = async (query: string) =>
      (await app.call('GET', `/api/auth/tokens${query}`, { token })).body;
    const first = await page('?limit=2');
    const rest = await page(`?limit=2&cursor=${first.nextCursor}`);
    const ids = [...first.tokens, ...rest.tokens].map(({ id }: { id: string }) => id);
    expect([ids, rest.nextCursor]).to.equal([made, null]);
  });

  it('end at once when they are deleted, with their sockets, and no other does', async () => {
    const { token } = await app.register('jana');
    const [gone, kept] = [await makeToken(app, token), await makeToken(app, token)];
    const open = (with_: string) => Client.connect(`${app.url.replace('http', 'ws')}/ws`, with_);
    const [closing, staying] = [await open(gone.token), await open(kept.token)];
    expect((await remove(token, gone.id)).status).to.equal(204);
    expect((await closing.closed).code).to.equal(4401);
    expect(await staying.ask({ type: 'subscribe', channels: ['notification'] })).to.equal({
      type: 'subscribed',
      channels: ['notification'],
    });
    staying.ws.close();
    expect([await me(gone.token), await me(kept.token)]).to.equal([401, 200]);
    expect((await remove(token, gone.id)).status).to.equal(404);
  });

  it('end at their time, and stay in the list', async () => {
    const { token } = await app.register('karl');
    const made = await makeToken(app, token, { expiresInDays: 1 });
    clock.forward(DAY_MS - 1000);
    expect(await me(made.token)).to.equal(200);
    clock.forward(1000);
    expect(await me(made.token)).to.equal(401);
    const login = { username: 'karl', password: PASSWORD };
    const again = (await app.call('POST', '/api/auth/login', { body: login })).body.token;
    expect((await list(again)).map(({ id }: { id: string }) => id)).to.equal([made.id]);
    expect((await remove(again, made.id)).status).to.equal(204);
  });

  it('outlive the session that made them, and not the account', async () => {
    const { id, token } = await app.register('lena');
    const made = await makeToken(app, token);
    await app.call('POST', '/api/auth/logout', { token });
    expect(await me(made.token)).to.equal(200);
    const { db } = app.app.store;
    const set = (disabled_at: string | null) =>
      db.updateTable('users').set({ disabled_at }).where('id', '=', id).execute();
    await set('2026-01-01');
    expect(await me(made.token)).to.equal(401);
    await set(null);
    expect(await me(made.token)).to.equal(200);
    await db.deleteFrom('users').where('id', '=', id).execute();
    expect(await me(made.token)).to.equal(401);
  });

  it('of an admin reach the administration with its scopes alone, and as long as he is one', async () => {
    const { id, token } = await app.register('mia');
    const { db } = app.app.store;
    const role = (to: 'admin' | 'user') =>
      db.updateTable('users').set({ role: to }).where('id', '=', id).execute();
    await role('admin');
    const all = await makeToken(app, token);
    const named = await makeToken(app, token, { scopes: ['admin:read'] });
    const other = await makeToken(app, token, { scopes: ['hooks:read'] });
    const audit = async (with_: string) =>
      (await app.call('GET', '/api/admin/audit', { token: with_ })).status;
    const each = async () => Promise.all([all, named, other].map((one) => audit(one.token)));
    expect(await each()).to.equal([403, 200, 403]);
    await role('user');
    expect(await each()).to.equal([403, 403, 403]);
  });

  it('are not kept as a reply for an Idempotency-Key', async () => {
    const { token } = await app.register('nora');
    const headers = { 'idempotency-key': 'once' };
    const post = () =>
      app.call('POST', '/api/auth/tokens', { token, headers, body: { name: 'ci' } });
    const [first, second] = [await post(), await post()];
    expect(first.body.id === second.body.id).to.be.false();
    const kept = await app.app.store.db.selectFrom('idempotency').select('key').execute();
    expect(kept).to.equal([]);
  });

  it('are written down nowhere', async () => {
    const { token } = await app.register('otto');
    const made = await makeToken(app, token);
    const signature = made.token.split('.')[2] ?? '';
    const rows = await app.app.store.db.selectFrom('access_tokens').selectAll().execute();
    const told = await app.app.store.db.selectFrom('notifications').selectAll().execute();
    const audit = await app.app.store.db.selectFrom('audit').selectAll().execute();
    expect(JSON.stringify([rows, told, audit])).to.not.contain(signature);
  });

  it('are audited, made and deleted', async () => {
    const { id: actorId, token } = await app.register('paul');
    const { id } = await makeToken(app, token, { scopes: ['hooks:read'] });
    await remove(token, id);
    const root = { username: 'first', password: PASSWORD };
    const admin = (await app.call('POST', '/api/auth/login', { body: root })).body.token;
    const { body } = await app.call('GET', `/api/admin/audit?actorId=${actorId}`, { token: admin });
    const expiresAt = new Date(clock.now() + 90 * DAY_MS).toISOString();
    const said = body.entries
      .filter(({ action }: { action: string }) => action.startsWith('tokens.'))
      .map(({ action, target, outcome, data }: Record<string, unknown>) => [
        action,
        target,
        outcome,
        data,
      ]);
    expect(said).to.equal([
      ['tokens.delete', id, 'ok', null],
      ['tokens.create', id, 'ok', { name: 'ci', scopes: ['hooks:read'], expiresAt }],
    ]);
  });
});
