import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { type FrozenClock, frozenClock, until } from '../harness/app.js';
import { type Desk, openDesk } from '../harness/hooks.js';

export const lab = Lab.script();
const { after, before, describe, it } = lab;

const MINUTE = 60_000;

describe('a hook whose secret is a credential', () => {
  let clock: FrozenClock;
  let desk: Desk;
  before(async () => {
    clock = frozenClock();
    desk = await openDesk({ clock, config: { tokenHours: 720 } });
  });
  after(() => desk.test.stop());

  const store = async (name: string, value: string): Promise<string> =>
    (await desk.ask('POST', '/api/vault', { name, value })).body.id;
  const hookOn = (path: string, webhookCredentialId: string, more: object = {}) =>
    desk.ask('POST', '/api/hooks', {
      name: path,
      trigger: 'webhook',
      triggerConfig: { webhookPath: path, webhookCredentialId, ...more },
      action: 'notify',
      actionConfig: { notifyMessage: 'It came' },
    });
  const send = async (path: string, secret: string): Promise<number> =>
    (await desk.deliver(path, `{"n":${++sent}}`, { secret })).status;
  let sent = 0;

  it('verifies with it, and shows which it is', async () => {
    const id = await store('plain', 'one');
    const { status, body } = await hookOn('plain', id);
    const triggerConfig = { webhookPath: 'plain', webhookSecretSet: true, webhookCredentialId: id };
    expect([status, body.triggerConfig]).to.equal([201, triggerConfig]);
    expect([await send('plain', 'one'), await send('plain', 'two')]).to.equal([202, 401]);
    const at = new Date(clock.now()).toISOString();
    const get = async () => (await desk.ask('GET', `/api/vault/${id}`)).body.lastUsedAt;
    await until(get, (lastUsedAt) => lastUsedAt === at);
  });

  it('takes both values in the overlap under traffic, and the new one alone after it', async () => {
    const id = await store('turning', 'old');
    await hookOn('turning', id);
    const traffic: Promise<number>[] = [];
    for (let n = 0; n < 20; n++) traffic.push(send('turning', 'old'));
    const rotated = desk.ask('POST', `/api/vault/${id}/rotate`, {
      value: 'new',
      overlapMinutes: 10,
    });
    for (let n = 0; n < 20; n++) traffic.push(send('turning', 'old'));
    await rotated;
    for (let n = 0; n < 20; n++) traffic.push(send('turning', n % 2 ? 'old' : 'new'));
    expect(new Set(await Promise.all(traffic))).to.equal(new Set([202]));
    await desk.test.restart();
    clock.forward(10 * MINUTE - 1);
    expect([await send('turning', 'old'), await send('turning', 'new')]).to.equal([202, 202]);
    clock.forward(1);
    expect([await send('turning', 'old'), await send('turning', 'new')]).to.equal([401, 202]);
  });

  it('is closed to the old value at once where there is no overlap', async () => {
    const id = await store('hard', 'old');
    await hookOn('hard', id);
    const rotate = (value: string) =>
      desk.ask('POST', `/api/vault/${id}/rotate`, { value, overlapMinutes: 0 });
    await rotate('new');
    expect([await send('hard', 'old'), await send('hard', 'new')]).to.equal([401, 202]);
    await desk.test.restart();
    expect([await send('hard', 'old'), await send('hard', 'new')]).to.equal([401, 202]);
  });

  it('keeps each value of several rotations no longer than any of them says', async () => {
    const id = await store('often', 'first');
    await hookOn('often', id);
    const rotate = (value: string, overlapMinutes: number) =>
      desk.ask('POST', `/api/vault/${id}/rotate`, { value, overlapMinutes });
    const heard = async () => [
      await send('often', 'first'),
      await send('often', 'second'),
      await send('often', 'third'),
    ];
    await rotate('second', 60);
    await rotate('third', 10);
    expect(await heard()).to.equal([202, 202, 202]);
    clock.forward(10 * MINUTE);
    expect(await heard()).to.equal([401, 401, 202]);
    await rotate('second', 1);
    await rotate('first', 30);
    clock.forward(MINUTE);
    expect(await heard()).to.equal([202, 202, 401]);
  });

  it('verifies with all of several rotations at once, and after it with the newest', async () => {
    const id = await store('raced', 'value 0');
    await hookOn('raced', id);
    const numbers = [1, 2, 3, 4, 5];
    const replies = await Promise.all(
      numbers.map((n) => desk.ask('POST', `/api/vault/${id}/rotate`, { value: `value ${n}` })),
    );
    const heard = () => Promise.all([0, ...numbers].map((n) => send('raced', `value ${n}`)));
    expect(new Set(await heard())).to.equal(new Set([202]));
    clock.forward(60 * MINUTE);
    const newest = numbers.filter((_, at) => replies[at]?.body.credential.version === 6);
    expect(newest.length).to.equal(1);
    expect(await heard()).to.equal([0, ...numbers].map((n) => (n === newest[0] ? 202 : 401)));
  });

  it('is closed once it has expired', async () => {
    const id = await store('passing', 'one');
    await hookOn('passing', id);
    const expiresAt = new Date(clock.now() + MINUTE).toISOString();
    await desk.ask('PATCH', `/api/vault/${id}`, { expiresAt });
    expect(await send('passing', 'one')).to.equal(202);
    clock.forward(MINUTE);
    expect(await send('passing', 'one')).to.equal(401);
  });

  it('is closed to what has expired, or was to, whatever follows it', async () => {
    const id = await store('renewed', 'old');
    await hookOn('renewed', id);
    const expiresAt = (ms: number) => new Date(clock.now() + ms).toISOString();
    const rotate = (value: string) => desk.ask('POST', `/api/vault/${id}/rotate`, { value });
    await desk.ask('PATCH', `/api/vault/${id}`, { expiresAt: expiresAt(MINUTE) });
    clock.forward(MINUTE);
    await rotate('new');
    expect([await send('renewed', 'old'), await send('renewed', 'new')]).to.equal([401, 202]);
    await desk.ask('PATCH', `/api/vault/${id}`, { expiresAt: expiresAt(MINUTE) });
    await rotate('newest');
    expect([await send('renewed', 'new'), await send('renewed', 'newest')]).to.equal([202, 202]);
    clock.forward(MINUTE);
    await desk.ask('PATCH', `/api/vault/${id}`, { expiresAt: null });
    expect([await send('renewed', 'new'), await send('renewed', 'newest')]).to.equal([401, 202]);
  });

  it('keeps it while the path changes, and drops it for a secret of its own', async () => {
    const id = await store('kept', 'one');
    const hook = (await hookOn('before', id)).body.id;
    const put = (triggerConfig: object) => desk.ask('PUT', `/api/hooks/${hook}`, { triggerConfig });
    await put({ webhookPath: 'kept' });
    expect(await send('kept', 'one')).to.equal(202);
    const refused = await desk.ask('POST', `/api/hooks/${hook}/rotate-secret`, {});
    expect([refused.status, refused.body.code]).to.equal([409, 'secret_in_vault']);
    await put({ webhookPath: 'kept', webhookSecret: 'own' });
    expect([await send('kept', 'one'), await send('kept', 'own')]).to.equal([401, 202]);
  });

  it('is refused with another’s credential, and with a secret beside it', async () => {
    const { token } = await desk.test.register('mallory');
    const theirs = await desk.test.call('POST', '/api/vault', {
      token,
      body: { name: 'theirs', value: 'x' },
    });
    const own = await store('own', 'x');
    for (const reply of [
      await hookOn('other', theirs.body.id),
      await hookOn('other', own, { webhookSecret: 'y' }),
    ]) {
      const [first] = reply.body.details;
      expect([reply.status, first.path]).to.equal([400, 'triggerConfig.webhookCredentialId']);
    }
  });
});
