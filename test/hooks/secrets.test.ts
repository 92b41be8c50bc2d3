import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock } from '../harness/app.js';
import { type Desk, onPath, openDesk } from '../harness/hooks.js';

export const lab = Lab.script();
const { describe, it, before, after } = lab;

const MINUTE = 60_000;
let clock: FrozenClock;
let desk: Desk;
before(async () => {
  clock = frozenClock();
  desk = await openDesk({ clock, config: { tokenHours: 720 } });
});
after(() => desk.test.stop());

const rotate = (id: string, body: object = {}) =>
  desk.ask('POST', `/api/hooks/${id}/rotate-secret`, body);
const config = async (id: string) => (await desk.ask('GET', `/api/hooks/${id}`)).body.triggerConfig;
const later = (ms: number): string => new Date(clock.now() + ms).toISOString();

describe('rotate-secret', () => {
  it('shows the new secret once; both verify until the overlap ends', async () => {
    const id = await desk.hook(onPath('overlap', 'old'));
    const send = async (secret: string) =>
      (await desk.deliver('overlap', '{"n":1}', { secret })).status;
    const until = later(10 * MINUTE);
    const { status, body } = await rotate(id, { overlapMinutes: 10 });
    expect(status).to.equal(200);
    expect(body).to.equal({ secret: body.secret, oldSecretUntil: until });
    expect(body.secret).to.match(/^[\w-]{48}$/);
    const rest = { webhookPath: 'overlap', webhookSecretSet: true, oldSecretUntil: until };
    expect(await config(id)).to.equal({ ...rest, oldSecretLastUsedAt: null });

    expect(await send(body.secret)).to.equal(202);
    expect((await config(id)).oldSecretLastUsedAt).to.be.null();
    clock.forward(10 * MINUTE - 1);
    expect(await send('old')).to.equal(202);
    expect(await config(id)).to.equal({ ...rest, oldSecretLastUsedAt: later(0) });

    clock.forward(1);
    expect([await send('old'), await send(body.secret)]).to.equal([401, 202]);
    expect(JSON.stringify(await config(id))).to.not.contain(body.secret);
  });

  it('makes one in the form of the sender, and none that only the sender can make', async () => {
    const hookOf = (webhookPath: string, verify: unknown, webhookSecret?: string) =>
      desk.hook({ triggerConfig: { webhookPath, webhookSecret, verify } });
    const described = { header: 'x-sig', signed: '{body}', key: 'base64' };
    const encoded = await hookOf('encoded', described, 'YWJjZGVmZ2hpamtsbW5vcA==');
    expect((await rotate(encoded)).body.secret).to.match(/^[A-Za-z0-9+/]{48}$/);
    expect((await rotate(await hookOf('graph', 'microsoft-graph', 'the state'))).status).to.equal(
      200,
    );
    const standard = await hookOf(
      'standard',
      'standard-webhooks',
      'whsec_YWJjZGVmZ2hpamtsbW5vcA==',
    );
    expect((await rotate(standard)).body.secret).to.match(/^whsec_[A-Za-z0-9+/]{48}$/);
    const topicArn = 'arn:aws:sns:eu-west-1:123456789012:orders';
    for (const id of [
      await hookOf('theirs', 'stripe', 'whsec_of_stripe'),
      await hookOf('named', 'basic', 'ada:the password'),
      await hookOf(
        'keyed',
        'discord',
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      ),
      await hookOf('topic', { preset: 'sns', topicArn }),
    ]) {
      const before = await config(id);
      const { status, body } = await rotate(id);
      expect([status, body.code]).to.equal([409, 'secret_not_ours']);
      expect(await config(id)).to.equal(before);
    }
  });

  it('keeps the overlap over a restart', async () => {
    const id = await desk.hook(onPath('restarted', 'old'));
    const { body } = await rotate(id, { overlapMinutes: 10 });
    await desk.test.restart();
    for (const secret of ['old', body.secret]) {
      expect((await desk.deliver('restarted', '{"n":1}', { secret })).status).to.equal(202);
    }
    clock.forward(10 * MINUTE);
    expect((await desk.deliver('restarted', '{"n":1}', { secret: 'old' })).status).to.equal(401);
  });

  it('overlaps by an hour unless told, and not at all where told so', async () => {
    const id = await desk.hook(onPath('hour', 'old'));
    expect((await rotate(id)).body.oldSecretUntil).to.equal(later(60 * MINUTE));
    const { body } = await rotate(id, { overlapMinutes: 0 });
    expect(body.oldSecretUntil).to.be.null();
    expect((await desk.deliver('hour', '{"n":1}', { secret: 'old' })).status).to.equal(401);
    expect((await desk.deliver('hour', '{"n":1}', { secret: body.secret })).status).to.equal(202);
  });

  it('keeps what each of several rotations promised, and nothing after one without', async () => {
    const first = 'two lines\nof "100 %", 2026-01-01T00:00:00.000Z';
    const id = await desk.hook(onPath('often', first));
    const send = async (secret: string) =>
      (await desk.deliver('often', '{"n":1}', { secret })).status;
    const until = later(30 * MINUTE);
    const second = (await rotate(id, { overlapMinutes: 30 })).body.secret;
    const { body } = await rotate(id, { overlapMinutes: 10 });
    expect(body.oldSecretUntil).to.equal(until);
    const heard = () => Promise.all([first, second, body.secret].map(send));
    expect(await heard()).to.equal([202, 202, 202]);
    clock.forward(10 * MINUTE);
    await desk.test.restart();
    expect(await heard()).to.equal([202, 401, 202]);
    clock.forward(20 * MINUTE);
    expect(await heard()).to.equal([401, 401, 202]);
    const fourth = (await rotate(id, { overlapMinutes: 10 })).body.secret;
    expect((await rotate(id, { overlapMinutes: 0 })).body.oldSecretUntil).to.be.null();
    expect(await heard()).to.equal([401, 401, 401]);
    expect(await send(fourth)).to.equal(401);
  });

  it('verifies with four of before at most', async () => {
    const id = await desk.hook(onPath('crowd', 'secret 0'));
    const secrets = ['secret 0'];
    for (let n = 0; n < 6; n++) secrets.push((await rotate(id)).body.secret);
    const send = async (secret: string) =>
      (await desk.deliver('crowd', '{"n":1}', { secret })).status;
    expect(await Promise.all(secrets.map(send))).to.equal([401, 401, 202, 202, 202, 202, 202]);
  });

  it('goes on with the one secret that was kept for an overlap before there were several', async () => {
    const { app } = desk.test;
    const id = await desk.hook(onPath('kept', "It's a Secret"));
    const { db } = app.store;
    const { secret_sealed } = await db
      .selectFrom('hooks')
      .select('secret_sealed')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const { body } = await rotate(id, { overlapMinutes: 10 });
    await db
      .updateTable('hooks')
      .set({ old_secret_sealed: secret_sealed })
      .where('id', '=', id)
      .execute();
    await desk.test.restart();
    for (const secret of ["It's a Secret", body.secret]) {
      expect((await desk.deliver('kept', '{"n":1}', { secret })).status).to.equal(202);
    }
  });

  it('serves the other receiver as well', async () => {
    const id = await desk.hook(onPath('incoming', 'old'));
    const { body } = await rotate(id, { overlapMinutes: 1 });
    const send = async (secret: string) => {
      const headers = { 'x-webhook-secret': secret };
      const path = `/api/hooks/incoming/${id}`;
      return (await desk.test.call('POST', path, { body: '{"n":1}', headers })).status;
    };
    expect([await send('old'), await send(body.secret)]).to.equal([202, 202]);
    clock.forward(MINUTE);
    expect([await send('old'), await send(body.secret)]).to.equal([401, 202]);
  });

  it('gives a secret to a hook that had none, and ends an overlap by a secret that is set', async () => {
    const id = await desk.hook({ triggerConfig: { webhookPath: 'first' } });
    const { body } = await rotate(id);
    expect(body.oldSecretUntil).to.be.null();
    await rotate(id);
    await desk.ask('PUT', `/api/hooks/${id}`, onPath('first', 'chosen'));
    expect(await config(id)).to.equal({ webhookPath: 'first', webhookSecretSet: true });
    const { status } = await desk.deliver('first', '{"n":1}', { secret: body.secret });
    expect(status).to.equal(401);
  });

  it('is for webhooks', async () => {
    const id = await desk.hook({ trigger: 'agent_failed', triggerConfig: {} });
    expect((await rotate(id)).status).to.equal(409);
  });

  it('keeps no secret readable in the database', async () => {
    const id = await desk.hook(onPath('sealed', 'canary-of-the-hook'));
    const { body } = await rotate(id);
    const row = await desk.test.app.store.db
      .selectFrom('hooks')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    const stored = JSON.stringify(row);
    for (const secret of ['canary-of-the-hook', body.secret]) {
      expect(stored).to.not.contain(secret);
      expect(stored).to.not.contain(Buffer.from(secret).toString('base64url'));
    }
  });
});
