import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock } from '../../harness/app.js';
import { type Desk, onPath, openDesk } from '../../harness/hooks.js';

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
