import { createHash } from 'node:crypto';
import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type KyselyPlugin, sql } from 'kysely';
import { iso } from '../../src/kernel/clock.js';
import { replayStore } from '../../src/store/idempotency.js';
import { frozenClock, startApp, type TestApp } from '../harness/app.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const hook = (name: string) => ({
  name,
  trigger: 'webhook',
  triggerConfig: { webhookPath: name },
  action: 'notify',
  actionConfig: { notifyMessage: 'x' },
});

describe('Idempotency-Key', () => {
  const clock = frozenClock();
  let app: TestApp;
  let token: string;
  const create = (key: string, body: object, by = token) =>
    app.call('POST', '/api/hooks', { token: by, headers: { 'idempotency-key': key }, body });
  const count = async () => (await app.call('GET', '/api/hooks', { token })).body.hooks.length;

  before(async () => {
    app = await startApp({ clock, config: { tokenHours: 100 } });
    token = (await app.register('ada')).token;
  });

  after(() => app.stop());

  it('gets the first reply again', async () => {
    const first = await create('one', hook('one'));
    const second = await create('one', hook('one'));
    expect([first.status, second.status]).to.equal([201, 201]);
    expect(second.body).to.equal(first.body);
    expect(second.headers['idempotent-replayed']).to.equal('true');
    expect(first.headers['idempotent-replayed']).to.be.undefined();
    expect(await count()).to.equal(1);
  });

  it('keeps no digest by which a secret in the body could be tried out', async () => {
    const body = { name: 'short', value: '1234' };
    const key = { 'idempotency-key': 'secret' };
    const keep = () => app.call('POST', '/api/vault', { token, headers: key, body });
    const first = await keep();
    expect(first.status).to.equal(201);
    const { body_digest } = await app.app.store.db
      .selectFrom('idempotency')
      .select('body_digest')
      .where('key', '=', 'secret')
      .executeTakeFirstOrThrow();
    const bare = [JSON.stringify(body), JSON.stringify([{}, body]), '1234'].map((text) =>
      createHash('sha256').update(text).digest('hex'),
    );
    expect(bare).to.not.include(body_digest);
    await app.call('POST', '/api/admin/vault/rekey', { token });
    await app.restart();
    expect((await keep()).body).to.equal(first.body);
  });

  it('refuses another body', async () => {
    const { status, body } = await create('one', hook('two'));
    expect([status, body.code]).to.equal([409, 'idempotency_key_reused']);
  });

  it('is each user’s own, and each route’s', async () => {
    const other = (await app.register('bob')).token;
    expect((await create('one', hook('one'), other)).status).to.equal(201);
    const agent = await app.call('POST', '/api/agents', {
      token,
      headers: { 'idempotency-key': 'one' },
      body: { prompt: 'hello' },
    });
    expect(agent.status).to.equal(201);
  });

  it('acts once when twenty come at once', async () => {
    const before = await count();
    const all = await Promise.all(Array.from({ length: 20 }, () => create('many', hook('many'))));
    const done = all.filter(({ status }) => status === 201);
    const busy = all.filter(({ status, body }) => status === 409 && body.code.endsWith('_busy'));
    expect(busy.length + done.length).to.equal(20);
    expect(new Set(done.map(({ body }) => body.id)).size).to.equal(1);
    expect(await count()).to.equal(before + 1);
  });

  it('is busy for a call that reads the record just before the first one ends', async () => {
    const { store } = app.app;
    const { id: userId } = await app.register('eve');
    const call = { userId, route: 'r', key: 'k', bodyDigest: 'd', isRepeatable: false };
    const deps = { now: () => iso(clock.now()), digest: (text: string) => text };
    const endFirst: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (result.rows.length > 0) await replays.end(call, { status: 201, body: null });
        return result;
      },
    };
    const replays = replayStore({ ...store, db: store.db.withPlugin(endFirst) }, deps);
    expect(await replays.begin(call)).to.be.null();
    expect(await replays.begin(call)).to.equal('running');
    expect(await replays.begin(call)).to.equal({ status: 201, body: null });
  });

  it('is free again after a failure', async () => {
    const config = { webhookUrl: 'http://169.254.169.254/latest' };
    const wrong = await create('three', {
      ...hook('three'),
      action: 'webhook',
      actionConfig: config,
    });
    expect(wrong.status).to.equal(400);
    expect((await create('three', hook('three'))).status).to.equal(201);
  });

  it('is forgotten after a day', async () => {
    const before = await create('day', hook('day'));
    clock.forward(24 * 3600_000 + 1000);
    const next = await create('day', hook('day'));
    expect(next.status).to.equal(201);
    expect(next.body.id).to.not.equal(before.body.id);
  });

  it('does not act again where the daemon ended in the middle, and says so for a day', async () => {
    const first = await create('cut', hook('cut'));
    const headers = { 'idempotency-key': 'cut' };
    const path = `/api/hooks/${first.body.id}`;
    const change = (name: string) => app.call('PUT', path, { token, headers, body: { name } });
    expect((await change('changed')).status).to.equal(200);
    // As a kill leaves them between what they do and their replies.
    await app.app.store.db
      .updateTable('idempotency')
      .set({ status: null, reply: null })
      .where('key', '=', 'cut')
      .execute();
    await app.restart();
    const before = await count();
    for (let tries = 0; tries < 2; tries++) {
      const { status, body } = await create('cut', hook('cut'));
      expect([status, body.code]).to.equal([409, 'idempotency_key_lost']);
    }
    expect((await create('cut', hook('cut two'))).body.code).to.equal('idempotency_key_reused');
    expect(await count()).to.equal(before);
    // The same change made twice is the same.
    const again = await change('changed');
    expect([again.status, again.body.name]).to.equal([200, 'changed']);
    clock.forward(24 * 3600_000 + 1000);
    expect((await create('cut', hook('cut'))).status).to.equal(201);
  });

  it('is not free where the reply could not be recorded', async () => {
    const { db } = app.app.store;
    await sql`CREATE TRIGGER stuck BEFORE UPDATE ON idempotency BEGIN
      SELECT RAISE(ABORT, 'stuck'); END`.execute(db);
    const first = await create('stuck', hook('stuck'));
    expect(first.status).to.equal(201);
    await sql`DROP TRIGGER stuck`.execute(db);
    const { status, body } = await create('stuck', hook('stuck'));
    expect([status, body.code]).to.equal([409, 'idempotency_key_lost']);
  });

  it('is ignored where a secret is in the reply', async () => {
    const { body } = await create('secret', {
      ...hook('secret'),
      triggerConfig: { webhookPath: 'p', webhookSecret: 'sesame' },
    });
    const rotate = () =>
      app.call('POST', `/api/hooks/${body.id}/rotate-secret`, {
        token,
        headers: { 'idempotency-key': 'rotate' },
        body: {},
      });
    const [first, second] = [await rotate(), await rotate()];
    expect(second.body.secret).to.not.equal(first.body.secret);
    const rows = await app.app.store.db
      .selectFrom('idempotency')
      .select(['key', 'reply'])
      .execute();
    expect(JSON.stringify(rows)).to.not.include([first.body.secret]);
  });

  it('has 1 to 200 characters', async () => {
    expect((await create('x'.repeat(201), hook('long'))).status).to.equal(400);
  });
});
